package depot.store;

import static depot.text.Words.*;
import static java.util.Objects.requireNonNull;

import depot.text.Words;

/** One thing. */
public record Item(String name, Kind kind) implements Comparable<Item> {
    public Item {
        requireNonNull(name);
        trimmed(name);
    }

    Item(String name) {
        this(name, Kind.TOOL);
    }

    public String label() {
        return Words.joined(kind.label(), name());
    }

    @Override
    public int compareTo(Item other) {
        return label().compareTo(other.label());
    }

    /** What an item is. */
    public enum Kind {
        TOOL,
        PART {
            @Override
            String label() {
                return shown().toLowerCase();
            }
        };

        String label() {
            return shown();
        }

        String shown() {
            return name();
        }
    }
}
