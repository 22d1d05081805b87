/**
 * Which AWS calls a function can make: every `new …Command(…)` in code that can be reached from its handler.
 *
 * A class counts once it is constructed, a method once it is named; a call through an interface may land in any class
 * that is constructed. So the answer may hold a call that never happens, and lacks none that does.
 */
import { dirname, resolve } from 'node:path';
import ts from 'typescript';

/** Packages and commands, such as `client-sqs SendMessageBatch`. */
export function awsCallsFrom(entry: string): ReadonlySet<string> {
  const program = programOf(entry);
  const checker = program.getTypeChecker();
  const calls = new Set<string>();
  const seen = new Set<ts.Node>();
  const constructed = new Set<ts.ClassLikeDeclaration>();
  const throughInterface = new Set<string>();
  const waiting: ts.Node[] = [];

  const reach = (node: ts.Node | undefined): void => {
    if (node === undefined || seen.has(node)) return;
    seen.add(node);
    waiting.push(node);
  };
  const reachMembers = (made: ts.ClassLikeDeclaration, names: ReadonlySet<string>): void => {
    for (const member of made.members) {
      if (member.name && names.has(member.name.getText()) && !ts.isPropertyDeclaration(member)) reach(member);
    }
  };
  const construct = (made: ts.ClassLikeDeclaration): void => {
    if (constructed.has(made)) return;
    constructed.add(made);
    for (const member of made.members) {
      if (ts.isConstructorDeclaration(member) || ts.isPropertyDeclaration(member)) reach(member);
    }
    reachMembers(made, throughInterface);
  };
  const declared = (declaration: ts.Declaration): void => {
    if (program.isSourceFileDefaultLibrary(declaration.getSourceFile())) return;
    if (ts.isMethodSignature(declaration) || ts.isPropertySignature(declaration)) {
      if (checker.getTypeAtLocation(declaration).getCallSignatures().length === 0) return;
      const name = declaration.name.getText();
      throughInterface.add(name);
      for (const made of constructed) reachMembers(made, new Set([name]));
    } else if (ts.isClassLike(declaration)) construct(declaration);
    else if (!ts.isParameter(declaration) && !ts.isTypeNode(declaration)) reach(declaration);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    if (ts.isNewExpression(node) && ts.isIdentifier(node.expression)) {
      const from = packageOf(node.expression);
      if (from !== undefined && node.expression.text.endsWith('Command')) {
        calls.add(`${from} ${node.expression.text.slice(0, -'Command'.length)}`);
      }
    }
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      const shorthand = ts.isShorthandPropertyAssignment(node.parent)
        ? checker.getShorthandAssignmentValueSymbol(node.parent)
        : undefined;
      for (const symbol of [shorthand, checker.getSymbolAtLocation(node)]) {
        const meant = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
        for (const declaration of meant?.declarations ?? []) declared(declaration);
      }
    }
    ts.forEachChild(node, visit);
  };

  const packageOf = (name: ts.Identifier): string | undefined => {
    const [declaration] = checker.getSymbolAtLocation(name)?.declarations ?? [];
    if (declaration === undefined || !ts.isImportSpecifier(declaration)) return undefined;
    const from = declaration.parent.parent.parent.moduleSpecifier;
    return ts.isStringLiteral(from) && from.text.startsWith('@aws-sdk/')
      ? from.text.slice('@aws-sdk/'.length)
      : undefined;
  };

  const source = program.getSourceFile(entry);
  if (source === undefined) throw new Error(`there is no ${entry}`);
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement) && statement.getText().startsWith('export const handler')) reach(statement);
  }
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) visit(node);
  return calls;
}

/** Our own sources only: what a package does inside is not looked at. */
function programOf(entry: string): ts.Program {
  const options: ts.CompilerOptions = {
    noEmit: true,
    lib: ['lib.es2024.d.ts'],
    types: [],
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    allowImportingTsExtensions: true,
  };
  const host = ts.createCompilerHost(options, true);
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) => ({
      resolvedModule: text.startsWith('.')
        ? { resolvedFileName: resolve(dirname(from), text), extension: ts.Extension.Ts }
        : undefined,
    }));
  return ts.createProgram([entry], options, host);
}
