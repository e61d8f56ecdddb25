package io.github.pulsarspark.read.tails

import java.util.UUID
import java.util.concurrent.TimeUnit

import org.apache.spark.sql.types.{IntegerType, StructField, StructType}

import io.github.pulsarspark.cluster.{ReadSuite, StoredTopic, TopicEntry, TopicLedger}
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.format.{Sent, StoredEntry}
import io.github.pulsarspark.position.{OffsetRange, Position, PruningBounds}
import io.github.pulsarspark.pulsar.BrokerEntries
import io.github.pulsarspark.read.task.{PlannedSchema, PlannedSlice, ReadContext}
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.storage.KilledTasks.eventually
import io.github.pulsarspark.storage.segment.{HadoopSettings, Slice}

/** The end of a task in real-time mode: what it waits for, and what it leaves to the next batch. */
class TailsReaderSuite extends ReadSuite {

  private val number = StructType(Seq(StructField("value", IntegerType)))

  /** Follows a topic of 32-bit integers, which are texts of four letters.
    *
    * @param leaves
    *   consumers that are open when the task is closed
    */
  private def using(name: String, ledger: Long, leaves: Int)(texts: String*)(test: TailsReader => Any): Unit = {
    val run     = UUID.randomUUID.toString
    val entries = texts.zipWithIndex.map { case (text, i) =>
      TopicEntry(Position(ledger, i.toLong), StoredEntry(Seq(Sent.text(text)), batched = true).array,
        TopicEntry.Messages(), 1L, 1)
    }
    cluster.add(StoredTopic(full(name), Vector(TopicLedger(ledger, entries.toVector))))
    val all    = Slice.ByBroker(OffsetRange(full(name), Position(ledger, -1), Position.AfterAll))
    val tail   = PlannedSlice(all, PruningBounds.Everything, PlannedSchema.Sent(TopicSchema("INT32")))
    val set    = options("onDecodeError" -> "dlq", "dlqTopic" -> "letters")
    val reader = new TailsReader(
      TailsPartition(Seq(PlannedTail(tail, Position(ledger, texts.size - 1L)))),
      ReadContext(number, set, HadoopSettings.none, stream = Some(run)),
      run,
      None,
      None
    )
    try {
      try test(reader)
      finally
        try reader.close()
        catch { case _: RuntimeException with PulsarError => () } // Spark throws the first failure of the two
      consumers(leaves)
    } finally BrokerEntries.ended(run)
    consumers(0)
  }

  private def consumers(count: Int): Unit =
    eventually(s"${cluster.consumers} consumers are open, not $count")(cluster.consumers == count)

  private def hasRow(reader: TailsReader): Boolean = reader.next(System.nanoTime() + TimeUnit.MINUTES.toNanos(3))

  test("the end of a batch waits for the copies of messages that do not decode, and fails when they are refused") {
    stored("letters", 200L -> 0)
    using("copied", 210, leaves = 1)("no number", "four") { reader =>
      assert(hasRow(reader))
      assertEquals(reader.finish().read, Map(full("copied") -> Position(210, 1)))
      assertEquals(cluster.topic(full("letters")).entries.size, 1)
    }
    cluster.writes.refused = Set(full("letters"))
    try
      using("refused", 220, leaves = 0)("no number", "four") { reader =>
        assert(hasRow(reader))
        intercept[RuntimeException with PulsarError](reader.finish())
      }
    finally cluster.writes.refused = Set.empty
  }

  test("a task that does not end closes its readers, since what it read is read again") {
    using("cut", 230, leaves = 0)("four", "five")(reader => assert(hasRow(reader)))
  }
}
