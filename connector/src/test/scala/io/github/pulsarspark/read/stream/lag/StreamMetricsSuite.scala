package io.github.pulsarspark.read.stream.lag

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.metrics.{LastRead, TierCounts}
import io.github.pulsarspark.position.Position

class StreamMetricsSuite extends UnitSuite {

  private val read = {
    val counts = new TierCounts
    (1 to 4).foreach { _ =>
      counts.addEntry(Tier.Broker, 100)
      (1 to 10).foreach(_ => counts.addRow(Tier.Broker))
    }
    counts
  }

  private def metrics(
      backlog: Option[Backlog],
      levels: TierCounts = read,
      last: Map[String, LastRead] = Map.empty
  ): Map[String, String] = StreamMetrics.ofBacklog(backlog, levels, last, now = 10000)

  private def behind(entries: (String, Option[Long])*) =
    Some(Backlog(entries.map { case (p, n) => PartitionBacklog(p, Position(1, 0), n) }))

  test("everything is read: each figure is 0, and no partition is the worst") {
    val zeros = Map(
      "pulsarPartitionsBehind"        -> "0",
      "pulsarBacklogEntries"          -> "0",
      "pulsarBacklogMessagesEstimate" -> "0",
      "pulsarBacklogBytesEstimate"    -> "0",
      "pulsarBacklogMs"               -> "0"
    )
    assertEquals(metrics(Some(Backlog(Nil))), zeros)
    assertEquals(metrics(Some(Backlog(Nil)), new TierCounts), zeros, "also when this query has read nothing")
  }

  test("before the first trigger nothing is known") {
    val unknown = metrics(None)
    assertEquals(unknown.values.toSet, Set("unknown"))
    assertEquals(unknown.keySet, metrics(Some(Backlog(Nil))).keySet)
  }

  test("estimates take the next entries to be like those that were read") {
    val last  = Map("a" -> LastRead(Position(1, 0), 9000), "b" -> LastRead(Position(1, 0), 4000))
    val found = metrics(behind("a" -> Some(3L), "b" -> Some(2L)), last = last)
    assertEquals(
      found,
      Map(
        "pulsarPartitionsBehind"               -> "2",
        "pulsarBacklogEntries"                 -> "5",
        "pulsarBacklogMessagesEstimate"        -> "50",
        "pulsarBacklogBytesEstimate"           -> "500",
        "pulsarBacklogMs"                      -> "6000",
        "pulsarWorstPartition"                 -> "a",
        "pulsarWorstPartitionEntries"          -> "3",
        "pulsarWorstPartitionMessagesEstimate" -> "30",
        "pulsarWorstPartitionBytesEstimate"    -> "300",
        "pulsarWorstPartitionMs"               -> "1000"
      )
    )
  }

  test("what is not known is unknown, never 0") {
    val found = metrics(behind("a" -> Some(3L), "b" -> None), last = Map("a" -> LastRead(Position(1, 0), 9000)))
    assertEquals(found("pulsarPartitionsBehind"), "2")
    assertEquals(found("pulsarWorstPartition"), "b")
    assertEquals((found - "pulsarPartitionsBehind" - "pulsarWorstPartition").values.toSet, Set("unknown"))
    val fresh = metrics(behind("a" -> Some(3L)), new TierCounts)
    assertEquals((fresh("pulsarBacklogEntries"), fresh("pulsarBacklogMessagesEstimate")), ("3", "unknown"))
    val markers = new TierCounts
    markers.addEntry(Tier.Broker, 50)
    assertEquals(metrics(behind("a" -> Some(3L)), markers)("pulsarBacklogMessagesEstimate"), "1",
      "0 is for nothing left")
  }

  test("a clock that is behind that of producers makes no negative age") {
    val found = metrics(behind("a" -> Some(3L)), last = Map("a" -> LastRead(Position(1, 0), 90000)))
    assertEquals(found("pulsarBacklogMs"), "0")
  }
}
