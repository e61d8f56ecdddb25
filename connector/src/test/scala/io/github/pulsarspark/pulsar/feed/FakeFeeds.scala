package io.github.pulsarspark.pulsar.feed

import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.mutable

import io.netty.buffer.Unpooled
import org.apache.pulsar.client.api.PulsarClientException

import io.github.pulsarspark.position.Position

/** A broker's side of one topic partition, in memory.
  *
  * @param stored
  *   the entries that a broker would dispatch
  * @param answers
  *   by number of the opened feed, what happens there; the last one goes for all that follow
  * @param stored
  *   the bounds of a consumer that begins after everything, whatever compaction removed; before everything if nothing
  *   is stored
  */
private[pulsar] final class FakeFeeds(answers: Seq[FakeFeeds.Script], stored: FeedBounds = FakeFeeds.Nothing)
    extends EntryFeeds {
  val opened: mutable.Buffer[Option[Position]] = mutable.Buffer.empty
  val feeds: mutable.Buffer[FakeFeed]          = mutable.Buffer.empty
  val probes: mutable.Buffer[FakeFeed]         = mutable.Buffer.empty
  var closed                                   = 0

  override def open(start: Option[Position], permits: Int): PendingFeed[_ <: EntryFeed] = {
    val script = answers(math.min(opened.size, answers.size - 1))
    opened += start
    script.failure match {
      case Some(e) => new PendingFeed(CompletableFuture.failedFuture[FakeFeed](e))
      case None    =>
        val feed = new FakeFeed(script, if (script.countsPermits) permits else Int.MaxValue)
        feeds += feed
        new PendingFeed(script.opening(feed))
    }
  }

  override def openStored(start: Position): PendingFeed[_ <: PartitionFeed] = {
    probes += new FakeFeed(FakeFeeds.Script(Nil, Seq(stored.cursor), stored.last))
    new PendingFeed(CompletableFuture.completedFuture(probes.last))
  }

  override def close(): Unit = closed += 1

  /** Buffers that nobody released. */
  def leaked: Int = feeds.map(_.leaked).sum
}

private[pulsar] object FakeFeeds {

  /** The bounds of a topic in which nothing is stored. */
  val Nothing: FeedBounds = FeedBounds(Position(-1, -1), Position.BeforeAll)

  /** Script of one feed.
    *
    * @param sends
    *   entries in the order in which they arrive, each with its session
    * @param cursors
    *   positions of the cursor at each request; the last one holds for all later requests
    * @param last
    *   the last message of the topic
    * @param lastLater
    *   the last message in the second response and later ones, if another
    * @param boundsLater
    *   the second response and later ones, if they are others
    * @param silentPolls
    *   polls until the first entry arrives
    * @param countsPermits
    *   whether an entry arrives only when there is a permit for it
    */
  final case class Script(
      sends: Seq[(Position, Int)],
      cursors: Seq[Position],
      last: Position,
      failure: Option[Throwable] = None,
      opening: FakeFeed => CompletableFuture[FakeFeed] = feed => CompletableFuture.completedFuture(feed),
      bounds: Option[CompletableFuture[PartitionFeed.Bounds]] = None,
      goneAfter: Boolean = false,
      outageMillis: Long = 0,
      isUnbroken: Boolean = false,
      lastLater: Option[Position] = None,
      boundsLater: Option[CompletableFuture[PartitionFeed.Bounds]] = None,
      silentPolls: Int = 0,
      countsPermits: Boolean = false
  )
}

/** A feed in memory, for readers of entries and for those of positions.
  *
  * @param permits
  *   entries that may arrive at first
  */
private[pulsar] final class FakeFeed(script: FakeFeeds.Script, permits: Int = Int.MaxValue) extends EntryFeed
    with PositionFeed {
  val requests = new AtomicInteger
  var resumed  = false
  var closed   = false

  private var polls   = 0
  private var polled  = 0
  private var allowed = permits.toLong

  private def arrived: Long = if (polls < script.silentPolls) 0 else allowed

  private val buffers = mutable.Buffer.from(script.sends.map { case (p, session) => entry(p, session) })

  private def entry(p: Position, session: Int) =
    new EntryFeed.Entry(p.ledgerId, p.entryId, 1, Unpooled.buffer(8).writeLong(p.entryId), session)

  /** An entry arrives now. */
  def send(position: Position, session: Int): Unit = {
    buffers += entry(position, session)
    queue.add(buffers.last)
    ()
  }

  private val queue =
    new ConcurrentLinkedQueue[EntryFeed.Entry](scala.jdk.CollectionConverters.SeqHasAsJava(buffers).asJava)

  def leaked: Int = buffers.count(_.buffer.refCnt > 0)

  override def resume(): Unit = resumed = true

  override def poll(time: Long, unit: TimeUnit): EntryFeed.Entry = {
    if (!resumed) throw new AssertionError("polled before it was resumed")
    val entry = if (polled < arrived) queue.poll() else null
    if (entry != null) polled += 1
    polls += 1
    if (entry == null && script.goneAfter) throw new PulsarClientException.AlreadyClosedException("gone")
    entry
  }

  override def onArrival(listener: Runnable): Unit = ()

  override def queuedMessages(): Int = queue.size

  override def queuedBytes(): Long = queue.size * 8L

  override def first(): PartitionFeed.Place =
    buffers.headOption.map(e => new PartitionFeed.Place(e.ledgerId, e.entryId)).orNull

  override def waitAfter(after: PartitionFeed.Place): Boolean = false

  override def longestOutageMillis(): Long = script.outageMillis

  override def isUnbroken: Boolean = script.isUnbroken

  override def newest(): PartitionFeed.Place =
    buffers.take(math.min(arrived, buffers.size.toLong).toInt).lastOption.map(e =>
      new PartitionFeed.Place(e.ledgerId, e.entryId)
    ).orNull

  override def gather(until: PartitionFeed.Place, messages: Int, millis: Long): Unit = ()

  override def waitIn(room: WaitingRoom): Boolean = true

  override def leaveRoom(): Unit = ()

  override def grant(taken: EntryFeed.Entry, messages: Int): Unit = allowed += messages

  override def bounds(): CompletableFuture[PartitionFeed.Bounds] = script.bounds.getOrElse {
    val request = requests.getAndIncrement()
    val cursor  = script.cursors(math.min(request, script.cursors.size - 1))
    val last    = script.lastLater.filter(_ => request > 0).getOrElse(script.last)
    script.boundsLater.filter(_ => request > 0).getOrElse(CompletableFuture.completedFuture(
      new PartitionFeed.Bounds(last.ledgerId, last.entryId, cursor.ledgerId, cursor.entryId)
    ))
  }

  override def isConnected: Boolean = !isGone

  override def session(): Int = script.sends.headOption.fold(1)(_._2)

  override def isGone: Boolean = closed || script.goneAfter && queue.isEmpty

  override def closeAsync(): CompletableFuture[Void] = {
    closed = true
    queue.forEach { entry => entry.buffer.release(); () }
    queue.clear()
    CompletableFuture.completedFuture(null)
  }
}
