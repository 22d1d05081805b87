/**
 * What a long command is doing: one line that changes on a terminal, plain lines elsewhere.
 */
import ora from 'ora';

export interface Progress {
  /** Replaces the line that changes; says nothing where lines stay. */
  update(text: string): void;
  /** Replaces the line that changes; a line of its own where lines stay. */
  lasting(text: string): void;
  /** A line that stays. */
  note(text: string): void;
  end(): void;
}

/** Reports go to standard error, so that standard output holds results only. */
export function showProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  if (!stream.isTTY) {
    const line = (text: string): void => void stream.write(`${text}\n`);
    return { update: () => {}, lasting: line, note: line, end: () => {} };
  }
  // Without this, ora reads the terminal and Ctrl-C would no longer reach the process as a signal.
  const spinner = ora({ stream, discardStdin: false }).start();
  const update = (text: string): void => {
    spinner.text = text;
  };
  return {
    update,
    lasting: update,
    note: (text) => {
      spinner.clear();
      stream.write(`${text}\n`);
      spinner.render();
    },
    end: () => void spinner.stop(),
  };
}
