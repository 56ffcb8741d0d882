// What the TypeScript compiler says of a set of files: every call, construction and JSX element whose target is declared
// in one of them, and every import of one by another. One JSON object a line.
//
//   node oracle_typescript.mjs <folder of the typescript package> <root> < files.json
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const [, , compiler, root] = process.argv;
const ts = createRequire(path.join(path.resolve(compiler), "package.json"))("typescript");
const files = JSON.parse(fs.readFileSync(0, "utf8")).map((each) => path.join(root, each));
const own = new Set(files);

// Conditions of the packages' own (`@name/source`) that lead to their sources.
function conditionsOf() {
  const found = new Set();
  const look = (value) => {
    for (const [key, inner] of Object.entries(value ?? {})) {
      if (key.startsWith("@")) found.add(key);
      if (inner && typeof inner === "object") look(inner);
    }
  };
  const folders = new Set();
  for (const file of files) {
    for (let at = path.dirname(file); at.startsWith(root); at = path.dirname(at)) folders.add(at);
  }
  for (const folder of folders) {
    const manifest = path.join(folder, "package.json");
    if (fs.existsSync(manifest)) look(JSON.parse(fs.readFileSync(manifest, "utf8")).exports);
  }
  return [...found];
}

function optionsOf() {
  const config = path.join(root, "tsconfig.json");
  const made = fs.existsSync(config)
    ? ts.parseJsonConfigFileContent(ts.readConfigFile(config, ts.sys.readFile).config, ts.sys, root).options
    : {};
  return {
    ...made,
    allowJs: true,
    checkJs: false,
    noEmit: true,
    composite: false,
    incremental: false,
    strict: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ESNext,
    lib: undefined,
    jsx: ts.JsxEmit.Preserve,
    experimentalDecorators: true,
    maxNodeModuleJsDepth: 0,
    customConditions: conditionsOf(),
    types: fs.existsSync(path.join(compiler, "node_modules/@types/node")) ? ["node"] : [],
    typeRoots: [path.join(compiler, "node_modules/@types")],
  };
}

const program = ts.createProgram(files, optionsOf());
const checker = program.getTypeChecker();
const out = [];

// The node that gives a function or a class its name: the variable of an arrow, the property of a function.
function named(declaration) {
  let node = declaration;
  while (node && !ts.isSourceFile(node)) {
    if (ts.isConstructorDeclaration(node) || ts.isConstructSignatureDeclaration(node)) node = node.parent;
    if (node.name && (ts.isIdentifier(node.name) || ts.isPrivateIdentifier(node.name) || ts.isStringLiteral(node.name))) {
      return { node, name: node.name.text };
    }
    const parent = node.parent;
    if (parent && ts.isBinaryExpression(parent) && parent.right === node) {
      const left = parent.left;
      return { node: parent, name: ts.isPropertyAccessExpression(left) ? left.name.text : left.getText() };
    }
    if (ts.isExportAssignment(node)) return { node, name: "default" };
    if (ts.isClassLike(node) || ts.isFunctionDeclaration(node)) return { node, name: "default" };
    if (ts.isBlock(node) || ts.isStatement(node)) return undefined;
    node = parent;
  }
  return undefined;
}

// Of overloads, the one that has a body.
function implementation(declaration) {
  const all = declaration.symbol?.declarations ?? [];
  return all.find((each) => each.body && each.getSourceFile() === declaration.getSourceFile()) ?? declaration;
}

function symbolOf(expression) {
  const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression;
  let symbol = checker.getSymbolAtLocation(name);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  return symbol;
}

function declarationsOf(call) {
  const found = [];
  // A construction is a link to the class that is named, whoever declares the constructor.
  const made = ts.isNewExpression(call) ? symbolOf(call.expression)?.valueDeclaration : undefined;
  if (made && ts.isClassLike(made)) return [made];
  const signature = checker.getResolvedSignature(call);
  for (const each of [signature, ...(signature?.compositeSignatures ?? [])]) {
    if (each?.declaration) found.push(each.declaration);
  }
  // What is called may be typed by something else than what it is: both are right.
  const expression = call.expression ?? call.tagName ?? call.tag;
  const declared = expression && symbolOf(expression)?.valueDeclaration;
  if (declared && (ts.isClassLike(declared) || ts.isFunctionLike(declared))) found.push(declared);
  if (declared?.initializer && ts.isFunctionLike(declared.initializer)) found.push(declared.initializer);
  return found;
}

// A signature that a variable's type gives (`const f = curry(g)`) belongs to the variable, if it is one of ours.
function place(declaration) {
  const source = declaration.getSourceFile();
  if (!own.has(source.fileName)) return undefined;
  const found = named(implementation(declaration));
  if (!found) return undefined;
  const at = found.node.name ?? found.node;
  return {
    file: path.relative(root, source.fileName),
    line: source.getLineAndCharacterOfPosition(at.getStart(source)).line + 1,
    name: found.name,
  };
}

function visit(node, source, file) {
  if (
    ts.isCallExpression(node) || ts.isNewExpression(node) || ts.isJsxOpeningElement(node) ||
    ts.isJsxSelfClosingElement(node) || ts.isTaggedTemplateExpression(node) || ts.isDecorator(node)
  ) {
    const expression = node.expression ?? node.tagName ?? node.tag;
    const line = source.getLineAndCharacterOfPosition(expression.getEnd()).line + 1;
    const from = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    const found = declarationsOf(node);
    const to = found.map(place).filter(Boolean);
    out.push({ file, line, from, text: expression.getText(source).slice(-60), to, silent: found.length === 0 });
  }
  if (
    (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier ||
    ts.isCallExpression(node) && node.arguments.length === 1 && ts.isStringLiteralLike(node.arguments[0]) &&
      (node.expression.kind === ts.SyntaxKind.ImportKeyword || node.expression.getText(source) === "require")
  ) {
    const specifier = node.moduleSpecifier ?? node.arguments[0];
    const target = checker.getSymbolAtLocation(specifier)?.valueDeclaration?.getSourceFile();
    const resolved = target?.fileName ?? ts.resolveModuleName(
      specifier.text, source.fileName, program.getCompilerOptions(), ts.sys,
    ).resolvedModule?.resolvedFileName;
    if (resolved && own.has(resolved)) out.push({ file, imports: path.relative(root, resolved) });
  }
  ts.forEachChild(node, (each) => visit(each, source, file));
}

for (const name of files) {
  const source = program.getSourceFile(name);
  if (source) visit(source, source, path.relative(root, name));
}
process.stdout.write(out.map((each) => JSON.stringify(each)).join("\n") + "\n");
