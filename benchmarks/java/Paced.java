import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.function.Consumer;

/** Sends messages at a steady rate; each is the time it was sent, in microseconds since 1970, as text. */
final class Paced {

    /** How long producers wait for more messages of a batch: Kafka's default. Pulsar's is 1, so its server would get five times the batches. */
    static final int LINGER_MILLIS = 5;

    private Paced() {
    }

    /** The arguments are {@code rate}, messages a second, {@code burst}, messages at once, and {@code seconds}. */
    static Commands.Done send(Commands.Arguments arguments, Consumer<byte[]> sender) throws InterruptedException {
        int burst = arguments.number("burst");
        long bursts = (long) arguments.number("rate") * arguments.number("seconds") / burst;
        long gap = 1_000_000_000L * burst / arguments.number("rate");
        long start = System.nanoTime();
        for (long i = 0; i < bursts; i++) {
            long wait = start + i * gap - System.nanoTime();
            if (wait > 0) {
                Thread.sleep(wait / 1_000_000, (int) (wait % 1_000_000));
            }
            for (int n = 0; n < burst; n++) {
                Instant now = Instant.now();
                long micros = now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
                sender.accept(Long.toString(micros).getBytes(StandardCharsets.US_ASCII));
            }
        }
        return new Commands.Done(bursts * burst, 0);
    }
}
