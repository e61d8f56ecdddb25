package io.github.pulsarspark.read.stream

import java.nio.file.{Files, Path}
import java.time.Instant
import java.util.Optional

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.conf.Configuration
import org.apache.pulsar.common.api.proto.MarkerType
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.connector.read.streaming.{Offset, ReadLimit}
import org.apache.spark.sql.types.{BinaryType, StructField, StructType}

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.cluster.{ScriptedCluster, StoredTopic, TopicEntry, TopicLedger}
import io.github.pulsarspark.format.{EntryIdentity, Sent, StoredEntry}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{Position, PositionMark, PulsarOffset}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.broker.MarkedMessages
import io.github.pulsarspark.read.tails.{TailPositions, TailsPartition}
import io.github.pulsarspark.read.task.{PlannedSlice, PulsarInputPartition, ReadContext}
import io.github.pulsarspark.storage.segment.HadoopSettings

/** A topic of a scripted cluster, and the streams that read it one after the other with one checkpoint. Its texts are
  * short: `p1` is the second partition of the topic, and ledgers count from 0.
  *
  * An offset is a text like `p0 0:3, p1 1:-1; added p1 1:-1; missing p2 2:7`.
  *
  * @param firstLedger
  *   its id; the topic may have a hundred
  */
private[stream] final class StreamCase(cluster: ScriptedCluster, firstLedger: Long) extends AutoCloseable {
  import StreamCase._

  val topic: String    = s"persistent://public/default/t$firstLedger"
  val checkpoint: Path = Files.createTempDirectory("checkpoint")

  /** Creation time of partitions that are stored from now on, as the admin service reports it. */
  var created: Option[Instant] = None

  /** Number of the first message of each entry that is stored from now on, as its producer counts. */
  var sequenceId: Long = 40

  private val opened      = mutable.Buffer.empty[PulsarMicroBatchStream]
  private val connections = mutable.Buffer.empty[PulsarConnection]
  private val stored      = mutable.Map.empty[String, StoredTopic]

  /** Stores the partition anew, with these ledgers: the number of messages of each entry, 0 for one without a batch and
    * [[StreamCase.Marker]] for one of the broker.
    */
  def store(partition: String, ledgers: (Int, Seq[Int])*): Unit = {
    val all = ledgers.map { case (id, entries) =>
      TopicLedger(firstLedger + id,
        entries.zipWithIndex.map { case (n, i) => entry(Position(firstLedger + id, i.toLong), n, sequenceId) }.toVector)
    }
    stored(partition) = StoredTopic(name(partition), all.toVector, created = created)
    cluster.add(stored(partition))
  }

  /** Appends a batch of messages to the newest ledger of a partition, or to the next one. A broker closes no empty
    * ledger to begin another one.
    */
  def append(partition: String, texts: Seq[String], ledger: Option[Int] = None): Unit = {
    val before = stored(partition)
    require(ledger.isEmpty || before.ledgers.last.entries.nonEmpty, s"the newest ledger of $partition is empty")
    val ledgers = before.ledgers ++ ledger.map(id => TopicLedger(firstLedger + id, Vector.empty))
    val newest  = ledgers.last
    val at      = Position(newest.id, newest.entries.size.toLong)
    stored(partition) =
      before.copy(ledgers = ledgers.init :+ newest.copy(entries = newest.entries :+ messages(at, texts)))
    cluster.add(stored(partition))
  }

  /** Deletes the ledgers of a partition that are before this one. */
  def trim(partition: String, ledger: Int): Unit = {
    val before       = stored(partition)
    val (gone, rest) = before.ledgers.partition(_.id < firstLedger + ledger)
    stored(partition) = before.copy(ledgers = rest)
    cluster.add(stored(partition))
    gone.foreach(l => cluster.lose(l.id))
  }

  def delete(partition: String): Unit = stored.remove(partition).foreach(cluster.remove)

  def name(partition: String): String = s"$topic-partition-${partition.drop(1)}"

  def position(text: String): Position = {
    val at = Position.parse(text).get
    at.copy(ledgerId = at.ledgerId + firstLedger)
  }

  def offset(text: String): PulsarOffset = {
    val parts                = text.split(';').map(_.trim)
    def places(word: String) = SortedMap.from(
      parts.find(_.startsWith(s"$word ")).toSeq.flatMap(_.drop(word.length + 1).split(',').map(_.trim.split(' ')))
        .map(pair => name(pair(0)) -> position(pair(1)))
    )
    val read = parts.head.split(',').map(_.trim).filter(_.nonEmpty).map(_.split(' '))
    PulsarOffset(SortedMap.from(read.map(pair => name(pair(0)) -> position(pair(1)))), places("added"),
      places("missing"))
  }

  def shown(offset: PulsarOffset): String = {
    def places(all: SortedMap[String, Position]) =
      all.map { case (p, at) => s"${short(p)} ${shown(at)}" }.mkString(", ")
    val more = Seq("added" -> offset.added, "missing" -> offset.missing).filter(_._2.nonEmpty)
    (places(offset.positions) +: more.map { case (word, all) => s"$word ${places(all)}" }).mkString("; ")
  }

  private def shown(at: Position) =
    if (at == Position.BeforeAll) "first" else at.copy(ledgerId = at.ledgerId - firstLedger).toString

  private def short(partition: String) = "p" + partition.stripPrefix(s"$topic-partition-")

  /** The offset with a mark at each position, as of the messages that are stored there. */
  def marked(text: String): PulsarOffset = {
    val of = offset(text)
    of.copy(marks = of.positions.map { case (p, at) => p -> PositionMark(at.wholeEntry, PublishTime, digest) })
  }

  private def digest = EntryIdentity.of(StoredEntry(Seq(Sent.text("")), batched = false,
    metadata = m => { m.setSequenceId(sequenceId); () }).bytes)
    .get.digest

  /** The start of the stream, as an earlier run wrote it. */
  def begun(start: String): Unit = {
    Files.writeString(checkpoint.resolve("initial-offset.json"), offset(start).json)
    ()
  }

  /** The stream as it is started now; ends the one before. */
  def start(options: (String, String)*): Run = {
    stop()
    val settings = Map("service.url" -> cluster.serviceUrl, "topic" -> topic, "pollTimeoutMs" -> "20000") ++ options
    val read     = ReadOptions(CheckedOptions(settings, Scope.StreamRead, _ => Nil))
    val hadoop   = if (read.mayReadSegments) HadoopSettings.of(new Configuration) else HadoopSettings.none
    val source   = new PulsarMicroBatchStream(ReadContext(Columns, read, hadoop), Columns, checkpoint.toString)
    opened += source
    new Run(source)
  }

  /** Cursor of a durable subscription; None where it does not exist. */
  def cursor(subscription: String, partition: String): Option[String] =
    cluster.writes.subscriptions.get((name(partition), subscription)).map(shown(_))

  /** Creates a durable subscription, or moves its cursor. */
  def subscribe(subscription: String, partition: String, at: String): Unit =
    cluster.writes.subscriptions((name(partition), subscription)) = position(at)

  /** Marks of a stream of this topic.
    *
    * @param nanos
    *   the clock
    */
  def marks(background: BlockingParallel, nanos: () => Long): StreamMarks = {
    val read = ReadOptions(CheckedOptions(Map("service.url" -> cluster.serviceUrl, "topic" -> topic),
      Scope.StreamRead, _ => Nil))
    val connection = PulsarConnection(read.client)
    connections += connection
    new StreamMarks(new MarkedMessages(read, connection.broker()), "here", checkpoint.toString, background, nanos)
  }

  def stop(): Unit = {
    opened.foreach(_.stop())
    opened.clear()
  }

  override def close(): Unit = {
    stop()
    connections.foreach(_.close())
    stored.keys.toSeq.foreach(delete)
  }

  /** One run of the stream, as Spark drives it. */
  final class Run(val source: PulsarMicroBatchStream) {

    def initial: String = shown(source.initialOffset())

    /** The end of a trigger that starts here; the limits are those of the options unless another one is given. */
    def latest(read: String, limit: ReadLimit = source.getDefaultReadLimit): String =
      shown(source.latestOffset(offset(read), limit))

    /** The end of everything, as Spark shows it. */
    def reported: Option[String] = Option(source.reportLatestOffset()).map(shown(_))

    def plan(from: String, to: String): Seq[PlannedSlice] =
      source.planInputPartitions(offset(from), offset(to)).toSeq.flatMap {
        case task: PulsarInputPartition => task.planned
        case other                      => throw new AssertionError(other)
      }

    /** Ranges of a micro-batch and by which tier they are read. */
    def ranges(from: String, to: String): Seq[String] = plan(from, to).map { planned =>
      val range = planned.slice.range
      s"${short(range.topic)} (${StreamCase.this.shown(range.startExclusive)}, " +
        s"${StreamCase.this.shown(range.endInclusive)}] ${planned.slice.level.name}"
    }

    /** Tails of a real-time batch, each with its start and what is known to exist. */
    def tails(from: String): Seq[String] = source.planInputPartitions(offset(from)).toSeq.flatMap {
      case task: TailsPartition => task.tails
      case other                => throw new AssertionError(other)
    }.map { tail =>
      val range = tail.planned.slice.range
      s"${short(range.topic)} (${StreamCase.this.shown(range.startExclusive)}, known ${StreamCase.this.shown(tail.known)}"
    }

    /** The end of a real-time batch whose only task ended there. */
    def merged(ends: String, wasAsked: Boolean = true): String =
      shown(source.mergeOffsets(Array(TailPositions(offset(ends).positions, wasAsked))))

    /** Number of rows of a micro-batch, whose tasks Spark runs. */
    def rows(from: String, to: String): Int =
      count(source.planInputPartitions(offset(from), offset(to)).toSeq, source.createReaderFactory())

    def metric(name: String): Option[String] = metrics(None).get(name)

    def metrics(consumed: Option[String]): Map[String, String] =
      source.metrics(consumed.fold(Optional.empty[Offset])(text => Optional.of(offset(text)))).asScala.toMap

    /** Losses of this run, as `PARTITION_MISSING p1 1:0`. */
    def lost: Seq[String] = metric("pulsarDataLossRanges").toSeq.flatMap(losses)

    private def shown(offset: Offset): String = offset match {
      case own: PulsarOffset => StreamCase.this.shown(own)
      case other             => throw new AssertionError(other)
    }
  }

  /** Losses that are kept under the checkpoint. */
  def kept: Seq[String] = {
    val folder = checkpoint.resolve("losses")
    if (!Files.isDirectory(folder)) Nil
    else Files.list(folder).toList.asScala.toSeq.filterNot(_.getFileName.toString.startsWith(".")).sorted
      .flatMap(file => losses(Files.readString(file)))
  }

  private def losses(json: String): Seq[String] = mapper.readTree(json).elements.asScala.toSeq.map { loss =>
    val topic = loss.path("topic").asText
    val from  = Position.parse(loss.path("from").asText).fold("?")(shown)
    s"${loss.path("condition").asText.stripPrefix("PULSAR_DATA_LOSS.")} ${short(topic)} $from"
  }
}

private[stream] object StreamCase {

  /** An entry of the broker itself. */
  val Marker: Int = -1

  /** Time at which all entries are published. */
  private val PublishTime = 1700000000123L

  private val Columns = StructType(Seq(StructField("value", BinaryType)))
  private val mapper  = new ObjectMapper

  private def count(tasks: Seq[InputPartition], factory: PartitionReaderFactory): Int =
    SparkSession.active.sparkContext.parallelize(tasks, math.max(1, tasks.size)).map { task =>
      val reader = factory.createReader(task)
      try Iterator.continually(reader.next()).takeWhile(identity).size
      finally reader.close()
    }.sum().toInt

  private def entry(at: Position, messages: Int, sequenceId: Long): TopicEntry = {
    val isMarker = messages == Marker
    val stored   = StoredEntry(
      Seq.fill(math.max(1, messages))(Sent.text("x" * 100)),
      batched = messages > 0,
      metadata = m => {
        m.setSequenceId(sequenceId)
        if (isMarker) { m.setMarkerType(MarkerType.TXN_COMMIT.getValue); () }
      }
    )
    asStored(at, stored, if (isMarker) TopicEntry.Marker else TopicEntry.Messages(), math.max(0, messages))
  }

  private def messages(at: Position, texts: Seq[String]): TopicEntry =
    asStored(at, StoredEntry(texts.map(Sent.text), batched = true), TopicEntry.Messages(), texts.size)

  private def asStored(at: Position, stored: StoredEntry, kind: TopicEntry.Kind, messages: Int) =
    TopicEntry(at, stored.array, kind, publishTime = PublishTime, messages)
}
