import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** The messages of a workload, from files that the harness made: values and keys of a fixed size, one after the other, used in turn. */
final class Content {
    private final byte[][] values;
    private final String[] keys;

    Content(Commands.Arguments arguments) throws IOException {
        values = split(Files.readAllBytes(Path.of(arguments.text("values"))), arguments.number("size"));
        byte[][] keyBytes = split(Files.readAllBytes(Path.of(arguments.text("keys"))), arguments.number("keySize"));
        keys = Arrays.stream(keyBytes).map(String::new).toArray(String[]::new);
    }

    byte[] value(long row) {
        return values[(int) (row % values.length)];
    }

    String key(long row) {
        return keys[(int) (row % keys.length)];
    }

    private static byte[][] split(byte[] all, int size) {
        byte[][] parts = new byte[all.length / size][];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = Arrays.copyOfRange(all, i * size, (i + 1) * size);
        }
        return parts;
    }
}
