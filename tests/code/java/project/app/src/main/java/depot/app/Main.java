package depot.app;

import depot.store.Item;
import depot.store.Item.Kind;
import depot.store.Memory;
import depot.store.Store;
import java.util.function.Supplier;

@Main.Entry("depot")
public final class Main {
    private static final Store STORE = open(Memory::new);

    @interface Entry {
        String value();
    }

    private Main() {}

    private static Store open(Supplier<Store> supplier) {
        return supplier.get();
    }

    public static void main(String[] arguments) {
        for (String name : arguments) {
            STORE.put(new Item(name, Kind.PART)).find(name).ifPresent(found -> print(found));
        }
        depot.text.Words.joined(arguments.length, "items");
        Item[] row = {new Item("nail", Kind.TOOL)};
        row[0].label();
    }

    private static void print(Object shown) {
        System.out.println(shown);
    }
}
