package depot.store;

/** What all stores have. */
abstract class Kept implements Store {
    protected final Log log = new Log();
    protected int size;

    abstract void forget();

    protected void written(String line) {
        log.write(line);
    }

    @Override
    public void close() {
        forget();
    }

    /** What was done. */
    protected static class Log {
        private final StringBuilder lines = new StringBuilder();

        Log write(String line) {
            lines.append(line);
            return this;
        }

        Log write(int number) {
            return write(String.valueOf(number));
        }

        class Mark {
            void set() {
                write("mark");
            }
        }
    }
}
