package io.github.pulsarspark.read.stream

import java.nio.file.{Files, Path}

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{OffsetRange, PartitionBounds, Position, PulsarOffset}
import io.github.pulsarspark.pulsar.progress.FakeSubscription
import io.github.pulsarspark.read.plan.FakeBroker

/** The progress subscription of a stream: when it may explain that messages are gone, and when that is a loss. */
class StreamSubscriptionSuite extends UnitSuite {

  private val last  = Position(5, 9)  // of a ledger
  private val next  = Position(7, -1) // before the ledger after it
  private val begin = Position(5, -1)

  /** A run of a query with a checkpoint.
    *
    * @param cursor
    *   where the subscription is when the run begins
    */
  private final class Run(checkpoint: Path, cursor: Position, more: (String, String)*) {
    val options: ReadOptions = ReadOptions(CheckedOptions(
      Map("service.url"      -> "pulsar://h:1", "topic" -> "t", "progressSubscription" -> "mine",
        "operationTimeoutMs" -> "2000") ++ more,
      Scope.StreamRead,
      _ => Nil
    ))
    val fake    = new FakeSubscription(Map("a" -> cursor, "b" -> cursor))
    var lookups = Seq.empty[String]
    fake.existing = p => { lookups :+= p; Some(true) }

    private val broker       = new FakeBroker(Map.empty, Map.empty, readers = Map("a" -> next))
    private val subscription =
      StreamSubscription(FakeSubscription.following(fake, options.client), broker, options, checkpoint.toString,
        new Configuration)

    def subscribe(read: (String, Position)*): Unit = subscription.subscribe(Set("a", "b"), PulsarOffset.of(read.toMap))

    /** A trigger that begins at `read` and ends at `to`. */
    def trigger(read: Position, to: Position): Unit = {
      val end = PartitionBounds(begin, Position(9, 9))
      subscribe("a" -> read)
      subscription.acknowledge(PulsarOffset.of(Map("a" -> read)), PulsarOffset.of(Map("a" -> to)), Map("a" -> end))
    }

    /** The start of a range over the end of a ledger that is gone. */
    def start(): Position =
      subscription.kept(Seq(OffsetRange("a", last, Position(7, 3)))).head.startExclusive

    def acknowledged: Seq[Position] = fake.feeds("a").acknowledged.toSeq

    def initial: Map[String, Position] = subscription.start(Seq("a", "b")).offset.positions
  }

  private def checkpoint(): Path = Files.createTempDirectory("checkpoint")

  private def isUsed(checkpoint: Path): Boolean = Files.exists(checkpoint.resolve("subscriptions/mine.json"))

  test("a stream that has used the subscription: what it passed while nobody ran was read, and may be gone") {
    val at    = checkpoint()
    val first = new Run(at, begin)
    first.trigger(last, last)
    assert(isUsed(at))
    val second = new Run(at, next)
    second.subscribe("a" -> last)
    assertEquals(second.start(), next)
  }

  test("a stream that has not used it: what the subscription passed proves nothing") {
    val fresh = new Run(checkpoint(), next)
    fresh.subscribe("a" -> last)
    assertEquals(fresh.start(), last)
    assertEquals(fresh.lookups, Nil)
  }

  test("a subscription that is ahead counts as used only when the stream has caught up with it") {
    val at  = checkpoint()
    val run = new Run(at, next)
    run.trigger(last, Position(7, 3))
    assert(!isUsed(at), "the messages up to it may be lost")
    run.trigger(Position(7, 3), Position(7, 3))
    assert(isUsed(at))
  }

  test("a checkpoint whose subscription was used stays so while the subscription is ahead") {
    val at = checkpoint()
    new Run(at, begin).trigger(last, last)
    val written = Files.getLastModifiedTime(at.resolve("subscriptions/mine.json"))
    new Run(at, next).trigger(last, Position(7, 3))
    assertEquals(Files.getLastModifiedTime(at.resolve("subscriptions/mine.json")), written)
  }

  test("used before: a partition that the stream has read is looked up, one that is new is not") {
    val at = checkpoint()
    new Run(at, begin).trigger(last, last)
    val run = new Run(at, begin)
    run.subscribe("a" -> last)
    assertEquals(run.lookups, Seq("a"))
    val fresh = new Run(checkpoint(), begin)
    fresh.subscribe("a" -> last)
    assertEquals(fresh.lookups, Nil, "nobody has used it before")
  }

  test("what Spark has committed is acknowledged, not what the micro-batch reads that begins now") {
    val run = new Run(checkpoint(), begin)
    run.trigger(Position(5, 4), last)
    assertEquals(run.acknowledged, Seq(Position(5, 3)), "the last entry stays while more is to be read")
  }

  test("the compacted view shows no losses: its ranges stay as they are, and nothing is requested") {
    val at = checkpoint()
    new Run(at, begin).trigger(last, last)
    val run = new Run(at, next, "readCompacted" -> "true")
    assertEquals(run.start(), last)
    assertEquals(run.fake.opened.toSeq, Nil)
  }

  test("a start at the subscription: the position after which it keeps messages, of each partition") {
    assertEquals(new Run(checkpoint(), last).initial, Map("a" -> last, "b" -> last))
  }
}
