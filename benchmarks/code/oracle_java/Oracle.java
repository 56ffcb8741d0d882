// Prints what Java's own compiler makes of a tree of sources: one JSON object a line, {src, rel, dst}.
//
//     java Oracle.java DIR [CLASS PATH]
//
// A definition is `path::Outer::Inner::method~2`, as weft writes it, a file its path. What lies outside DIR is left out,
// and so is what the compiler adds itself: constructors, their calls of super(), accessors of records.

import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import javax.lang.model.element.*;
import javax.lang.model.util.Elements;
import javax.tools.*;

public class Oracle {
    static final Set<String> said = new HashSet<>();
    static final PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false, StandardCharsets.UTF_8);
    static Path root;
    static Trees trees;
    static Elements elements;
    static final Map<Tree, String> keys = new IdentityHashMap<>();
    static final Map<Tree, String> files = new IdentityHashMap<>();

    public static void main(String[] arguments) throws IOException {
        root = Path.of(arguments[0]).toRealPath();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        List<File> sources;
        try (Stream<Path> walked = Files.walk(root)) {
            sources = walked.filter(p -> p.toString().endsWith(".java"))
                    .filter(p -> !p.endsWith("module-info.java") && !p.endsWith("package-info.java"))
                    .map(Path::toFile).sorted().collect(Collectors.toList());
        }
        List<String> options = new ArrayList<>(List.of("-proc:none", "-nowarn", "-XDshould-stop.ifError=FLOW"));
        if (arguments.length > 1) options.addAll(List.of("-cp", arguments[1]));
        DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
        JavacTask task = (JavacTask) compiler.getTask(
                null, manager, problems, options, null, manager.getJavaFileObjectsFromFiles(sources));
        trees = Trees.instance(task);
        elements = task.getElements();
        List<CompilationUnitTree> units = new ArrayList<>();
        task.parse().forEach(units::add);
        for (CompilationUnitTree unit : units) define(unit);
        task.analyze();
        for (CompilationUnitTree unit : units) new Reader(unit).scan(unit, null);
        problems.getDiagnostics().stream().filter(d -> d.getKind() == Diagnostic.Kind.ERROR).limit(20)
                .forEach(d -> System.err.println(d));
        out.flush();
    }

    static void say(String src, String rel, String dst) {
        if (src == null || dst == null || src.equals(dst) && rel.equals("IMPORTS")) return;
        String line = "{\"src\":\"" + src + "\",\"rel\":\"" + rel + "\",\"dst\":\"" + dst + "\"}";
        if (said.add(line)) out.println(line);
    }

    static String path(CompilationUnitTree unit) {
        return root.relativize(Path.of(unit.getSourceFile().toUri())).toString().replace('\\', '/');
    }

    static void define(CompilationUnitTree unit) {
        String path = path(unit);
        said.add(path);
        out.println("{\"src\":\"" + path + "\",\"rel\":\"READS\",\"dst\":\"" + path + "\"}");
        for (Tree each : unit.getTypeDecls()) if (each instanceof ClassTree) define(unit, (ClassTree) each, path + "::");
    }

    // Before the compiler adds anything of its own.
    static void define(CompilationUnitTree unit, ClassTree type, String before) {
        String key = before + type.getSimpleName();
        keys.put(type, key);
        files.put(type, path(unit));
        Map<String, Integer> seen = new HashMap<>();
        for (Tree member : type.getMembers()) {
            if (member instanceof ClassTree) define(unit, (ClassTree) member, key + "::");
            if (member instanceof MethodTree) {
                String name = ((MethodTree) member).getName().toString();
                if (name.equals("<init>")) name = type.getSimpleName().toString();
                int count = seen.merge(name, 1, Integer::sum);
                keys.put(member, key + "::" + name + (count > 1 ? "~" + count : ""));
            }
        }
    }

    static String key(Element element) {
        if (element == null || element.getKind() == ElementKind.PACKAGE) return null;
        if (element.getKind() == ElementKind.CONSTRUCTOR) element = element.getEnclosingElement();
        TreePath found = trees.getPath(element);
        return found == null ? null : keys.get(found.getLeaf());
    }

    static String file(Element element) {
        while (element != null && element.getEnclosingElement() != null
                && element.getEnclosingElement().getKind() != ElementKind.PACKAGE) element = element.getEnclosingElement();
        TreePath found = element == null ? null : trees.getPath(element);
        return found == null ? null : files.get(found.getLeaf());
    }

    static class Reader extends TreePathScanner<Void, Void> {
        final CompilationUnitTree unit;
        final String path;
        final Set<String> wild = new HashSet<>();

        Reader(CompilationUnitTree unit) {
            this.unit = unit;
            this.path = path(unit);
        }

        // The outermost method around, or the innermost class that is a member of classes only.
        String owner() {
            List<Tree> down = new ArrayList<>();
            for (Tree each : getCurrentPath()) down.add(0, each);
            String owner = path;
            for (Tree each : down) {
                if (each instanceof CompilationUnitTree) continue;
                String key = keys.get(each);
                if (key == null) break;
                owner = key;
                if (each instanceof MethodTree) break;
            }
            return owner;
        }

        boolean written(Tree tree) {
            return trees.getSourcePositions().getEndPosition(unit, tree) >= 0;
        }

        void calls(Element used) {
            if (used == null) return;
            if (used instanceof ExecutableElement && elements.getOrigin(used) != Elements.Origin.EXPLICIT
                    && used.getKind() != ElementKind.CONSTRUCTOR) return;
            say(owner(), "CALLS", key(used));
        }

        @Override public Void visitMethod(MethodTree tree, Void nothing) {
            return keys.containsKey(tree) || written(tree) ? super.visitMethod(tree, nothing) : null;
        }

        @Override public Void visitMethodInvocation(MethodInvocationTree tree, Void nothing) {
            if (written(tree)) {
                Element used = trees.getElement(new TreePath(getCurrentPath(), tree.getMethodSelect()));
                if (used != null && used.getKind() != ElementKind.CLASS) calls(used);
            }
            return super.visitMethodInvocation(tree, nothing);
        }

        @Override public Void visitNewClass(NewClassTree tree, Void nothing) {
            TreePath above = getCurrentPath().getParentPath();
            boolean constant = above.getLeaf() instanceof VariableTree
                    && trees.getElement(above) != null && trees.getElement(above).getKind() == ElementKind.ENUM_CONSTANT;
            if (!constant) {
                Tree named = tree.getIdentifier();
                TreePath at = new TreePath(getCurrentPath(), named);
                while (named instanceof ParameterizedTypeTree || named instanceof AnnotatedTypeTree) {
                    named = named instanceof AnnotatedTypeTree
                            ? ((AnnotatedTypeTree) named).getUnderlyingType() : ((ParameterizedTypeTree) named).getType();
                    at = new TreePath(at, named);
                }
                calls(trees.getElement(at));
            }
            return super.visitNewClass(tree, nothing);
        }

        @Override public Void visitMemberReference(MemberReferenceTree tree, Void nothing) {
            calls(trees.getElement(getCurrentPath()));
            return super.visitMemberReference(tree, nothing);
        }

        @Override public Void visitClass(ClassTree tree, Void nothing) {
            String key = keys.get(tree);
            if (key != null) {
                boolean face = tree.getKind() == Tree.Kind.INTERFACE || tree.getKind() == Tree.Kind.ANNOTATION_TYPE;
                if (tree.getExtendsClause() != null) supertype(key, "EXTENDS", tree.getExtendsClause());
                for (Tree each : tree.getImplementsClause()) supertype(key, face ? "EXTENDS" : "IMPLEMENTS", each);
            }
            return super.visitClass(tree, nothing);
        }

        void supertype(String key, String rel, Tree named) {
            TreePath at = new TreePath(getCurrentPath(), named);
            if (named instanceof ParameterizedTypeTree) at = new TreePath(at, ((ParameterizedTypeTree) named).getType());
            say(key, rel, key(trees.getElement(at)));
        }

        @Override public Void visitImport(ImportTree tree, Void nothing) {
            MemberSelectTree named = (MemberSelectTree) tree.getQualifiedIdentifier();
            TreePath at = new TreePath(getCurrentPath(), named);
            boolean all = named.getIdentifier().contentEquals("*");
            if (tree.isStatic() || !all) {
                TreePath of = tree.isStatic() ? new TreePath(at, named.getExpression()) : at;
                say(path, "IMPORTS", file(trees.getElement(of)));
            } else {
                wild.add(named.getExpression().toString());
            }
            return null;
        }

        @Override public Void visitIdentifier(IdentifierTree tree, Void nothing) {
            Element used = trees.getElement(getCurrentPath());
            if (used instanceof TypeElement && !wild.isEmpty() && used.getEnclosingElement() instanceof PackageElement
                    && wild.contains(((PackageElement) used.getEnclosingElement()).getQualifiedName().toString())) {
                String named = file(used);
                if (named != null && !named.equals(path)) say(path, "IMPORTS", named);
            }
            return super.visitIdentifier(tree, nothing);
        }
    }
}
