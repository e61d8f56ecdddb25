package io.github.pulsarspark.read.task

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType, StructField, StructType}
import org.apache.spark.util.LongAccumulator

import io.github.pulsarspark.cluster.ReadSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.metrics.{LastReads, LostRangesTotal, Measure, MovedTopics, TaskTotals, TierCounts}
import io.github.pulsarspark.position.{OffsetRange, Position, PruningBounds}
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.storage.segment.{HadoopSettings, Slice}

/** The slices of a task, one after the other, by [[PulsarPartitionReader]]: where it stops, and what it does then. */
class PulsarPartitionReaderSuite extends ReadSuite {

  private def slice(name: String, from: String, to: String, schema: TopicSchema = TopicSchema.Bytes) = PlannedSlice(
    Slice.ByBroker(OffsetRange(full(name), Position.parse(from).get, Position.parse(to).get)),
    PruningBounds.Everything,
    PlannedSchema.Sent(schema)
  )

  private def context(kind: DataType, limit: Option[Int], more: (String, String)*) =
    ReadContext(StructType(Seq(StructField("value", kind))), options(more: _*), HadoopSettings.none, limit)

  private def open(context: ReadContext, total: Option[TaskTotals], slices: PlannedSlice*) =
    PulsarReaderFactory(context, total).createReader(
      PulsarInputPartition(slices.map(s => PlannedSlices(Seq(s.slice), s.bounds, s.schema)))
    )

  private def values(reader: PartitionReader[InternalRow]): Seq[String] =
    Iterator.continually(reader).takeWhile(_.next()).map(r => new String(r.get().getBinary(0))).toList

  test("a task reads its slices in their order; with a limit no more rows than that, whatever is left") {
    stored("first", 100L  -> 3)
    stored("second", 200L -> 2)
    val all = Seq("100:0", "100:1", "100:2", "200:0", "200:1")
    for (limit <- None +: Seq(0, 1, 3, 4, 9).map(Some(_))) {
      val reader =
        open(context(BinaryType, limit), None, slice("first", "100:-1", "100:2"), slice("second", "200:-1", "200:1"))
      try {
        assertEquals(values(reader), limit.fold(all)(all.take), limit)
        assert(!reader.next(), "it stays at its end")
      } finally reader.close()
    }
  }

  private val letters = Seq("onDecodeError" -> "dlq", "dlqTopic" -> "letters")

  test("a task ends when the copies of its messages that do not decode are stored, and fails if they are refused") {
    stored("wrong", 300L   -> 2)
    stored("letters", 400L -> 0)
    def task() =
      open(context(IntegerType, None, letters: _*), None, slice("wrong", "300:-1", "300:1", TopicSchema("INT32")))
    val reader = task()
    try {
      assert(!reader.next())
      assertEquals(cluster.topic(full("letters")).entries.map(e => math.max(1, e.messages)).sum, 2)
    } finally reader.close()
    cluster.writes.refused = Set(full("letters"))
    val refused = task()
    try { intercept[RuntimeException with PulsarError](refused.next()); () }
    finally {
      try refused.close()
      catch { case _: RuntimeException => () } // Spark throws the first failure of the two
      cluster.writes.refused = Set.empty
    }
  }

  test("what a task counts is added to the counts of its stream once, however often the task is closed") {
    stored("counted", 500L -> 3)
    val totals = TaskTotals(new TierCounts, new LostRangesTotal, new LastReads, new LongAccumulator, new MovedTopics)
    val reader = open(context(BinaryType, None), Some(totals), slice("counted", "500:-1", "500:2"))
    values(reader)
    assertEquals(totals.levels.sum(Measure.Rows), 0L, "it is not closed")
    reader.close()
    reader.close()
    assertEquals(totals.levels.sum(Measure.Rows), 3L)
    assertEquals(totals.last.value.keySet, Set(full("counted")))
  }
}
