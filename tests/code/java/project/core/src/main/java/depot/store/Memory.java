package depot.store;

import depot.text.*;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A store that forgets. */
public class Memory extends Kept {
    private final Map<String, Item> items = new HashMap<>();
    private final Runnable hook = new Runnable() {
        @Override
        public void run() {
            written("run");
            helper();
        }

        private void helper() {}
    };

    public Memory() {
        super();
        Log.Mark mark = log.new Mark();
        mark.set();
    }

    @Override
    public Optional<Item> find(String name) {
        super.written(Words.trimmed(name));
        return Optional.ofNullable(items.get(name));
    }

    @Override
    public Memory put(Item item) {
        items.put(item.label(), item);
        log.write(1).write("put");
        return this;
    }

    @Override
    void forget() {
        items.values().forEach(item -> log.write(item.label()));
        java.util.function.Function<Item, String> label = kept -> kept.label();
        List<String> names = items.values().stream().map(Item::label).toList();
        var log = names.size();
        if (log > size) {
            Object first = names.get(0);
            if (first instanceof Item item && item.label().isEmpty()) {
                this.hook.run();
            }
        }
    }

    static class Sealed extends Memory {
        @Override
        public Memory put(Item item) {
            try (Store other = new Memory()) {
                other.put(item).putAll(item, new Item("lid"));
            }
            return super.put(item);
        }
    }
}
