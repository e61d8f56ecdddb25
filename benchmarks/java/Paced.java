import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Sends messages at a steady rate; each is the time at which it is due, in microseconds since 1970, as text that may begin with zeros. */
final class Paced {

    private Paced() {
    }

    /**
     * The arguments are {@code rate}, messages a second, {@code burst}, messages at once, and {@code seconds}. A sender that is late sends at once, and
     * what it sends keeps the time at which it was due. With {@code size} each message has so many bytes.
     */
    static Commands.Done send(Commands.Arguments arguments, Consumer<byte[]> sender) throws InterruptedException {
        int burst = arguments.number("burst");
        long bursts = (long) arguments.number("rate") * arguments.number("seconds") / burst;
        long gap = 1_000_000_000L * burst / arguments.number("rate");
        String form = "%0" + arguments.values().getOrDefault("size", "1") + "d";
        long startMicros = Stamps.micros();
        long start = System.nanoTime();
        for (long i = 0; i < bursts; i++) {
            long wait = start + i * gap - System.nanoTime();
            if (wait > 0) {
                Thread.sleep(wait / 1_000_000, (int) (wait % 1_000_000));
            }
            byte[] due = form.formatted(startMicros + i * gap / 1_000).getBytes(StandardCharsets.US_ASCII);
            for (int n = 0; n < burst; n++) {
                sender.accept(due);
            }
        }
        return new Commands.Done(bursts * burst, 0);
    }

    /** When a message was due. */
    static long due(byte[] value) {
        return Long.parseLong(new String(value, StandardCharsets.US_ASCII));
    }
}
