package io.github.pulsarspark.checkpoint

import java.util.concurrent.{ConcurrentLinkedQueue, ExecutionException, TimeUnit}

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.github.pulsarspark.checkpoint.LogFollower.Arrival
import io.github.pulsarspark.checkpoint.log.{Change, Folded, LogRecord, LogState, Outcome, RecordFormat}
import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.storage.KilledTasks.eventually

/** Records of [[LogWriter]] in the log of a store. */
class LogWriterSuite extends WriteSuite {
  private val change = Change.MakeFolder(Nil)

  test("records are numbered in the order of the log; another writer, with another id, begins anew") {
    val name = topic("numbered")
    store("numbered")
    Using.resource(PulsarConnection(client())) { connection =>
      val journal = connection.journal(name)
      val told    = new ConcurrentLinkedQueue[(LogRecord, Position)]
      val writers = Seq.fill(2)(new LogWriter(journal, (record, at) => { told.add(record -> at); () }))
      for ((writer, count) <- writers.zip(Seq(3, 2))) {
        (1 to count).foreach(_ => writer.append(change))
        assertEquals(writer.maxContent, 1 << 20)
        eventually(s"$told")(told.asScala.exists(_._1.number == count))
        writer.append(change)
        eventually(s"$told")(told.asScala.exists(_._1.number == count + 1))
        writer.close()
        assertEquals(told.asScala.toSeq.map(_._1.number), (1L to count + 1).toSeq)
        assertEquals(told.asScala.map(_._1.writer).toSet.size, 1)
        Using.resource(journal.reader(told.peek()._2.preceding)) { reader =>
          val found = (0 to count).map { _ =>
            val stored = reader.next().get(180, TimeUnit.SECONDS)
            RecordFormat.parse(stored.bytes).get -> stored.position
          }
          assertEquals(found, told.asScala.toSeq)
        }
        told.clear()
      }
    }
  }

  test("a wait ends when its record arrives, or with the reason why none does") {
    val name = topic("waits")
    store("waits")
    Using.resource(PulsarConnection(client())) { connection =>
      val told = new ConcurrentLinkedQueue[LogRecord]
      Using.resource(new LogWriter(connection.journal(name), (record, _) => { told.add(record); () })) { writer =>
        val waits = Seq.fill(3)(writer.append(change))
        eventually(s"$told")(told.size == 3)
        val state   = LogState.created(told.peek, told.peek.writer)
        val arrival = Arrival(told.asScala.toSeq(1), Folded(state, Outcome.Done), Position.BeforeAll)
        writer.arrived(arrival)
        writer.arrived(arrival)
        assertEquals(waits.map(_.isDone), Seq(false, true, false))
        assertEquals(waits(1).join(), arrival)
        val why = new IllegalStateException("the log is closed")
        writer.abandon(why)
        for (wait <- Seq(waits.head, waits(2)))
          assertEquals[Throwable, Throwable](intercept[ExecutionException](wait.get(60, TimeUnit.SECONDS)).getCause,
            why)
      }
    }
  }

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
