package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.feed.{PartitionFeed, PendingFeed}

class LastMessagesSuite extends PropertySuite {
  import LastMessagesSuite._

  private val options =
    ReadOptions(CheckedOptions(Map("service.url" -> "pulsar://h:1", "topic" -> "t"), Scope.BatchRead, _ => Nil))

  private val topics: Gen[(Topic, Position)] = for {
    entries <- Gen.listOf(Gen.frequency(4 -> Readable, 3 -> Hidden, 1 -> Open).map(k => k: Kind))
    topic = Topic(entries)
    named <- Gen.oneOf(topic.readable.inits.map(_.lastOption.getOrElse(Position(7, -1))).toSeq)
  } yield (topic, named)

  private def beyond(topics: Map[String, Topic], named: Map[String, Position]) = {
    var now    = 0L
    val opened = mutable.Buffer.empty[FakeTail]
    val result = new LastMessages(
      _.flatMap(p => topics.get(p).map(p -> _.stored)).toMap,
      (p, after) => {
        val feed = new FakeTail(topics(p), after)
        opened += feed
        new PendingFeed(CompletableFuture.completedFuture(feed))
      },
      new ClusterCalls(options.client, "pulsar://h:1"),
      () => { now += TimeUnit.MILLISECONDS.toNanos(100); now }
    ).beyond(named)
    assert(opened.forall(_.isGone), "a consumer was left open")
    (result, opened.size)
  }

  property("the last message is the last one before the first open transaction, whatever the broker names") {
    forAll(topics) { case (topic, named) =>
      val expected = topic.readable.lastOption.filter(_ > named).map("t" -> _).toMap
      assertEquals(beyond(Map("t" -> topic), Map("t" -> named))._1, expected)
    }
  }

  test("nobody listens to a partition that ends with the message that is named, or is gone") {
    val plain = Topic(Seq(Readable, Readable))
    assertEquals(beyond(Map("a" -> plain), Map("a" -> Position(7, 1), "gone" -> Position(7, 1))), (none, 0))
    assertEquals(beyond(Map("a" -> Topic(Nil)), Map("a" -> Position(5, 3))), (none, 0), "it was loaded anew")
  }

  test("a partition that has grown since its last message was named is asked once") {
    val grown = Topic(Seq.fill(5)(Readable), isNamed = true)
    assertEquals(beyond(Map("t" -> grown), Map("t" -> Position(7, 1))), (Map("t" -> Position(7, 4)), 1))
    assertEquals(grown.requests, 1)
  }

  test("a broker that is slow is waited for as long as its cursor moves") {
    val slow = Topic(Readable +: Seq.fill(50)(Hidden) :+ Readable, isSlow = true)
    assertEquals(beyond(Map("t" -> slow), Map("t" -> Position(7, 0))), (Map("t" -> Position(7, 51)), 1))
    val open = Topic(Readable +: Seq.fill(50)(Hidden) :+ Open, isSlow = true)
    assertEquals(beyond(Map("t" -> open), Map("t" -> Position(7, 0))), (none, 1))
  }

  test("a cursor that reaches the end ends the search at once") {
    assertEquals(beyond(Map("t" -> Topic(Seq(Readable, Hidden, Hidden))), Map("t" -> Position(7, 0))), (none, 1))
  }

  private def none = Map.empty[String, Position]
}

private object LastMessagesSuite {
  sealed trait Kind

  case object Readable extends Kind

  /** A marker, or an aborted message. */
  case object Hidden extends Kind

  /** A message of an open transaction. */
  case object Open extends Kind

  /** @param isNamed
    *   whether the broker names the last message now
    * @param isSlow
    *   whether the broker passes one entry between two requests
    */
  final case class Topic(entries: Seq[Kind], isNamed: Boolean = false, isSlow: Boolean = false) {
    var requests = 0

    private val decided         = entries.takeWhile(_ != Open).zipWithIndex
    def stored: Position        = Position(7, entries.size - 1L)
    def decidedUpTo: Long       = decided.size - 1L
    def readable: Seq[Position] = decided.collect { case (Readable, n) => Position(7, n.toLong) }
  }

  /** A consumer after a position. One entry arrives between two requests, the first one after the first request. */
  private final class FakeTail(topic: Topic, after: Position) extends PositionsFeed {
    private val toCome                         = topic.readable.filter(_ > after)
    private var requests                       = 0
    private var isResumed                      = false
    override def resume(): Unit                = isResumed = true
    override def first(): PartitionFeed.Place  = unused
    override def newest(): PartitionFeed.Place = unused

    override def bounds(): CompletableFuture[PartitionFeed.Bounds] = {
      assert(isResumed && !isGone)
      val passed  = if (topic.isSlow) after.entryId + requests else Long.MaxValue
      val arrived = toCome.take(requests).filter(_.entryId <= passed)
      requests += 1
      topic.requests += 1
      val last   = (if (topic.isNamed) topic.readable else arrived).lastOption.getOrElse(after)
      val cursor = math.min(passed, toCome.headOption.map(_.entryId - 1).getOrElse(topic.decidedUpTo))
      CompletableFuture.completedFuture(new PartitionFeed.Bounds(last.ledgerId, last.entryId, 7, cursor))
    }

    override def session(): Int                                 = 1
    override def isConnected: Boolean                           = true
    override def waitAfter(after: PartitionFeed.Place): Boolean = unused
  }
}
