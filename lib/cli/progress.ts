/**
 * What a long command is doing: one line that changes on a terminal, plain lines elsewhere.
 */
import ora from 'ora';

export interface Progress {
  /** Replaces the line that changes; says nothing where lines stay. */
  update(text: string): void;
  /** A line that stays. */
  note(text: string): void;
  end(): void;
}

/** Reports go to standard error, so that standard output holds results only. */
export function showProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  if (!stream.isTTY) {
    return { update: () => {}, note: (text) => void stream.write(`${text}\n`), end: () => {} };
  }
  // Without this, ora reads the terminal and Ctrl-C would no longer reach the process as a signal.
  const spinner = ora({ stream, discardStdin: false }).start();
  return {
    update: (text) => {
      spinner.text = text;
    },
    note: (text) => {
      spinner.clear();
      stream.write(`${text}\n`);
      spinner.render();
    },
    end: () => void spinner.stop(),
  };
}
