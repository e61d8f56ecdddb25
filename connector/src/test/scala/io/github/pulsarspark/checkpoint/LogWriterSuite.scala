package io.github.pulsarspark.checkpoint

import java.util.concurrent.{ExecutionException, TimeUnit}

import scala.util.Using

import io.github.pulsarspark.checkpoint.log.Change
import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.pulsar.PulsarConnection

class LogWriterSuite extends WriteSuite {
  private val change = Change.MakeFolder(Nil)

  test("who learns that an append failed, and appends again at once, has another writer") {
    val name = topic("failing")
    store("failing")
    Using.resource(PulsarConnection(client())) { connection =>
      Using.resource(new LogWriter(connection.journal(name), (_, _) => ())) { writer =>
        cluster.writes.refused = Set(name)
        requests()
        // within the lock of the writer, so that nothing replaces the failed one meanwhile
        try writer.synchronized {
            val refused = writer.append(change)
            intercept[ExecutionException](refused.get(60, TimeUnit.SECONDS))
            cluster.writes.refused = Set.empty
            writer.append(change)
          }
        finally cluster.writes.refused = Set.empty
        assertEquals(requests().filter(_.startsWith("producer")), Seq.fill(2)("producer failing Shared"))
      }
    }
  }
}
