package io.github.pulsarspark.pulsar.topics

import java.time.Instant

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{Occurrence, PulsarError}
import io.github.pulsarspark.position.Position

/** Names of losses: the condition decides what a query says and what its operator looks for. */
class TopicLossesSuite extends UnitSuite {

  private val partition = "persistent://a/b/t-partition-1"
  private val topic     = "persistent://a/b/t"

  private def of(loss: Occurrence): (String, String, String, String) = loss.exception match {
    case e: PulsarError =>
      (e.condition.stripPrefix("PULSAR_DATA_LOSS."), e.parameters("topic"), e.parameters("from"), e.parameters("to"))
    case other => fail(other.toString)
  }

  test("deleted: a partition if its topic exists, or if nobody knows and it is one; else the topic") {
    def deleted(name: String, exists: Option[Boolean]) =
      of(TopicLosses.deleted(name, Position(5, 2), "5:9", exists))._1
    assertEquals(
      for (name <- Seq(partition, topic); exists <- Seq(Some(true), Some(false), None)) yield deleted(name, exists),
      Seq("PARTITION_MISSING", "TOPIC_DELETED", "PARTITION_MISSING", "PARTITION_MISSING", "TOPIC_DELETED",
        "TOPIC_DELETED")
    )
    assertEquals(of(TopicLosses.deleted(topic, Position(5, 2), "5:9")), ("TOPIC_DELETED", topic, "5:2", "5:9"))
  }

  test("ends before the position: the same topic in the same ledger, another one in an older ledger") {
    def ends(end: Position) = of(TopicLosses.endsBefore(partition, Position(5, 7), "6:0", end))
    assertEquals(ends(Position(5, 3)), ("BEYOND_END", partition, "5:7", "6:0"))
    assertEquals(ends(Position(6, -1))._1, "BEYOND_END")
    assertEquals(ends(Position(4, 9)), ("TOPIC_RECREATED", partition, "5:7", "6:0"))
  }

  test("recreated: up to the first message of the new topic; no longer selected: as far as it was planned") {
    val created = Instant.parse("2026-01-02T03:04:05Z")
    val loss    = TopicLosses.recreated(partition, Position(3, 0), Position(7, -1), created)
    assertEquals(of(loss), ("TOPIC_RECREATED", partition, "3:0", "7:-1"))
    assert(loss.exception.getMessage.contains("2026-01-02T03:04:05Z"), loss)
    assertEquals(of(TopicLosses.deselected(partition, Position(3, 0), "3:9")),
      ("TOPIC_NOT_SELECTED", partition, "3:0", "3:9"))
  }
}
