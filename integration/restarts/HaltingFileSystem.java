package restarts;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/**
 * Local files under {@code halting:///}, with a rename like that of object stores: a copy, then a delete. It fails,
 * halts the JVM or waits at one step, which the system property {@code restarts.fault} names: {@code <action> <step>
 * <where>}.
 *
 * <p>Actions are {@code fail}, {@code halt} and {@code hold}, which sets {@code restarts.held} and waits until the
 * property of the fault is cleared, a minute at most. Steps are {@code before}, {@code copied} and {@code after} the rename
 * to a path of which {@code where} is a part, and {@code row}, the row of that number in this JVM.
 */
public final class HaltingFileSystem extends RawLocalFileSystem {
  private static final AtomicInteger ROWS = new AtomicInteger();

  @Override
  public String getScheme() {
    return "halting";
  }

  @Override
  public URI getUri() {
    return URI.create("halting:///");
  }

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    if (exists(to)) return false;
    reach("before", to.toUri().getPath());
    Files.copy(pathToFile(from).toPath(), pathToFile(to).toPath());
    reach("copied", to.toUri().getPath());
    Files.delete(pathToFile(from).toPath());
    reach("after", to.toUri().getPath());
    return true;
  }

  /** Returns the text; for {@code java_method} in a query. */
  public static String row(String text) throws IOException {
    reach("row", "/" + ROWS.incrementAndGet());
    return text;
  }

  private static void reach(String step, String where) throws IOException {
    String[] fault = System.getProperty("restarts.fault", "  ").split(" ", 3);
    if (!fault[1].equals(step) || !(where + "/").contains("/" + fault[2] + "/")) return;
    if (fault[0].equals("halt")) Runtime.getRuntime().halt(137);
    if (fault[0].equals("hold")) {
      hold();
      return;
    }
    System.clearProperty("restarts.fault");
    throw new IOException("a fault of the test " + step + " " + where);
  }

  private static void hold() throws IOException {
    System.setProperty("restarts.held", "yes");
    long deadline = System.nanoTime() + 60_000_000_000L;
    try {
      while (System.getProperty("restarts.fault") != null) {
        if (System.nanoTime() > deadline) throw new IOException("held for a minute");
        Thread.sleep(10);
      }
    } catch (InterruptedException e) {
      throw new InterruptedIOException();
    }
  }
}
