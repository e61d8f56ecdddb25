import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A client that does what the harness writes to its standard input: a line holds an action and {@code name=value} pairs, the answer is a line of JSON. */
abstract class Commands {

    /** For answers alone: whatever else is printed, such as a library's log, goes to the standard error. */
    private static final PrintStream ANSWERS = System.out;

    static {
        System.setOut(System.err);
    }

    /** What an action did. */
    record Done(long rows, long bytes) {
        Done plus(Done other) {
            return new Done(rows + other.rows, bytes + other.bytes);
        }
    }

    /** The arguments of one line. */
    record Arguments(Map<String, String> values) {
        String text(String name) {
            String value = values.get(name);
            if (value == null) {
                throw new IllegalArgumentException("no argument " + name);
            }
            return value;
        }

        int number(String name) {
            return Integer.parseInt(text(name));
        }

        /** The name of a partition of the topic, or of a topic without partitions. */
        String partition(int index) {
            return number("partitions") == 1 ? text("topic") : text("topic") + "-partition-" + index;
        }
    }

    abstract Done act(String action, Arguments arguments) throws Exception;

    final void serve() throws Exception {
        ANSWERS.println("{\"pid\": " + ProcessHandle.current().pid() + "}");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            Map<String, String> values = new HashMap<>();
            for (int i = 1; i < words.length; i++) {
                int equals = words[i].indexOf('=');
                values.put(words[i].substring(0, equals), words[i].substring(equals + 1));
            }
            long start = System.nanoTime();
            Done done = act(words[0], new Arguments(values));
            double seconds = (System.nanoTime() - start) / 1e9;
            ANSWERS.println("{\"rows\": " + done.rows + ", \"bytes\": " + done.bytes + ", \"seconds\": " + seconds + "}");
        }
    }

    /** One part of an action, for the partitions or rows whose number has this remainder. */
    interface Part {
        Done run(int index) throws Exception;
    }

    /** Runs the parts on as many threads and adds up what they did. */
    static Done inParallel(int threads, Part part) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<Done>> parts = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int index = i;
                parts.add(() -> part.run(index));
            }
            Done all = new Done(0, 0);
            for (Future<Done> future : executor.invokeAll(parts)) {
                all = all.plus(future.get());
            }
            return all;
        } finally {
            executor.shutdownNow();
        }
    }
}
