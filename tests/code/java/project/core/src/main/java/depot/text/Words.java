package depot.text;

/** Words, and what becomes of them. */
public final class Words {
    private Words() {}

    public static String joined(String one, String other) {
        return joined(new String[] {one, other});
    }

    public static String joined(String... words) {
        return String.join(" ", words);
    }

    public static String joined(int count, String word) {
        return joined(String.valueOf(count), word);
    }

    public static String trimmed(String word) {
        return new Trimmer(word).cut().done();
    }
}

class Trimmer {
    private String word;

    Trimmer(String word) {
        this.word = word;
    }

    Trimmer cut() {
        word = word.trim();
        return this;
    }

    String done() {
        return word;
    }
}
