package io.github.pulsarspark.read

import java.nio.file.Files
import java.util.UUID

import scala.collection.mutable
import scala.util.{Random, Using}

import org.apache.hadoop.conf.Configuration
import org.apache.pulsar.client.api.{MessageId, MessageIdAdv}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.util.LongAccumulator

import io.github.pulsarspark.cluster.{Found, LedgerHome, ScriptedCluster, StoredTopic, TopicLedger}
import io.github.pulsarspark.errors.{DataLossPolicy, PulsarError}
import io.github.pulsarspark.format.{Received, Tier}
import io.github.pulsarspark.metrics.{LastReads, LostRangesTotal, Measure, MovedTopics, TaskTotals, TierCounts}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{OffsetRange, Position, PruningBounds}
import io.github.pulsarspark.pulsar.{BrokerEntries, PulsarConnection}
import io.github.pulsarspark.read.tails.{PlannedTail, TailsPartition, TailsReader}
import io.github.pulsarspark.read.task.{PlannedSchema, PlannedSlice, PlannedSlices, PulsarInputPartition, PulsarReaderFactory, ReadContext}
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.MetadataColumns
import io.github.pulsarspark.storage.{KnownStorage, RequestedRange, SegmentLocator, SegmentPlan, StreamTail}
import io.github.pulsarspark.storage.offload.OffloadedCopies
import io.github.pulsarspark.storage.segment.{HadoopSettings, Slice}

/** A place for the ledgers of a topic partition, with the options by which they are read there.
  *
  * @param home
  *   of a ledger that takes no more entries
  */
private[read] final case class ReadPlace(
    name: String,
    level: String,
    format: Option[String] = None,
    home: Random => LedgerHome = _ => LedgerHome.Bookie,
    options: Map[String, String] = Map.empty
)

private[read] object ReadPlace {
  private def offloaded: LedgerHome = LedgerHome.Offloaded(UUID.randomUUID.toString)

  val broker: ReadPlace  = ReadPlace("broker", "broker")
  val bookies: ReadPlace = ReadPlace("bookies", "segment")

  /** Bookies that BookKeeper's client reads, which has settings of its own. */
  val client: ReadPlace =
    ReadPlace("client", "segment", options = Map("bookkeeper.clientConnectTimeoutMillis" -> "5000"))
  val blocks: ReadPlace  = ReadPlace("blocks", "segment", Some("block"), _ => offloaded)
  val mapFile: ReadPlace = ReadPlace("mapfile", "segment", Some("mapfile"), _ => offloaded)

  /** Each ledger elsewhere, and some of them where the broker alone can read. */
  val mixed: ReadPlace = ReadPlace("mixed", "auto", Some("block"),
    dice =>
      Seq(LedgerHome.Bookie, offloaded, LedgerHome.Unknown)(dice.nextInt(3)))

  val all: Seq[ReadPlace] = Seq(broker, bookies, client, blocks, mapFile, mixed)
}

/** Reads ranges of topics of a scripted cluster as a query does: the driver's plan, then each task. */
private[read] final class ReadLevels(cluster: ScriptedCluster) {
  import ReadLevels._

  private val copies = new OffloadedCopies(Files.createTempDirectory("offloaded"))
  private val hadoop = HadoopSettings.of(new Configuration)

  /** Stores the topic at this place, under another name. */
  def store(topic: StoredTopic, place: ReadPlace, dice: Random): StoredTopic = {
    val name   = s"${topic.name}-${place.name}"
    val homes  = topic.ledgers.init.map(l => l.id -> place.home(dice)).toMap.withDefaultValue(LedgerHome.Bookie)
    val stored = topic.copy(name = name, home = homes)
    stored.ledgers.foreach(l => copy(l, stored, place, blockBytes = 200 + dice.nextInt(4000)))
    cluster.add(stored)
    stored
  }

  private def copy(ledger: TopicLedger, topic: StoredTopic, place: ReadPlace, blockBytes: Int): Unit =
    topic.home(ledger.id) match {
      case LedgerHome.Offloaded(uuid) =>
        val entries = ledger.entries.map(_.bytes)
        if (place.format.contains("mapfile")) copies.writeMapFile(topic.name, ledger.id, uuid, entries)
        else copies.writeBlocks(topic.name, ledger.id, uuid, entries, blockBytes)
      case _ => ()
    }

  /** Deletes the copy of a ledger. */
  def delete(home: LedgerHome): Unit = home match {
    case LedgerHome.Offloaded(uuid) => copies.delete(uuid)
    case _                          => ()
  }

  /** Reads it.
    *
    * @param planned
    *   called between the plan and its tasks
    */
  def read(topic: StoredTopic, place: ReadPlace, query: LevelQuery, planned: () => Unit = () => ()): Found = {
    val location = place.format.toSeq.flatMap(f => Seq("offload.format" -> f, "offload.location" -> folder))
    val settings = Map(
      "service.url"    -> cluster.serviceUrl,
      "admin.url"      -> cluster.adminUrl,
      "topic"          -> topic.name,
      "readLevel"      -> place.level,
      "failOnDataLoss" -> query.failOnDataLoss.toString,
      "pollTimeoutMs"  -> "20000"
    )
    val scope   = if (query.stream.isEmpty) Scope.BatchRead else Scope.StreamRead
    val options = ReadOptions(CheckedOptions(settings ++ location ++ place.options ++ query.options, scope, _ => Nil))
    val losses  = new DataLossPolicy(options.failOnDataLoss)
    val rows    = mutable.Buffer.empty[(Position, Option[Received])]
    val counts  = mutable.Map.empty[String, Long].withDefaultValue(0L)
    val columns = if (query.isCount) Places else All
    def run(task: PulsarInputPartition): Unit = {
      val context = ReadContext(columns, options, hadoop, query.limit.map(_ - rows.size), stream = query.stream)
      val reader  = PulsarReaderFactory(context).createReader(task)
      try while (query.limit.forall(rows.size < _) && reader.next()) rows +=
          (if (query.isCount) counted(reader.get()) else received(reader.get()))
      finally {
        reader.close()
        reader.currentMetricsValues().foreach(m => counts(m.name) += m.value)
      }
    }
    val error =
      try {
        val tasks = plan(topic, options, query, losses)
        planned()
        tasks.foreach(run)
        None
      } catch { case e: RuntimeException with PulsarError => Some(e) }
    Found(
      if (query.stream.isEmpty) rows.sortBy(_._1).toSeq else rows.toSeq,
      losses.lost.count + counts("pulsarDataLoss"),
      counts("pulsarIncompleteChunks"),
      error.map(e => e.condition + e.parameters.get("position").fold("")(p => s" at $p"))
    )
  }

  /** Follows a topic from a position to its end as a task in real-time mode does, in batches that end anywhere: what is
    * stored, where it is, then the tail. Ends when it has so many rows, or fails.
    */
  def follow(topic: StoredTopic, place: ReadPlace, query: LevelQuery, rows: Int, dice: Random): Followed = {
    val location = place.format.toSeq.flatMap(f => Seq("offload.format" -> f, "offload.location" -> folder))
    val settings = Map("service.url" -> cluster.serviceUrl, "admin.url" -> cluster.adminUrl, "topic" -> topic.name,
      "readLevel" -> place.level, "pollTimeoutMs" -> "20000") ++ location ++ place.options ++ query.options
    val options = ReadOptions(CheckedOptions(settings, Scope.StreamRead, _ => Nil))
    val totals  = TaskTotals(new TierCounts, new LostRangesTotal, new LastReads, new LongAccumulator, new MovedTopics)
    val run     = UUID.randomUUID.toString
    val found   = mutable.Buffer.empty[(Position, Option[Received])]
    def batch(from: Position, most: Int, millis: Int): Position = {
      val until  = LevelQuery(from, topic.lastMessage, options = query.options, stream = Some(run))
      val slices =
        if (from >= topic.lastMessage) Nil
        else plan(topic, options, until, new DataLossPolicy(true), later = 1).flatMap(_.slices)
      val tail   = Slice.ByBroker(OffsetRange(topic.name, from, Position.AfterAll))
      val schema = PlannedSlice(tail, PruningBounds.Everything, PlannedSchema.Sent(TopicSchema.Bytes))
      val task   = TailsPartition(Seq(PlannedTail(schema, topic.lastMessage, slices.takeWhile(_.segment.nonEmpty))))
      val reader = new TailsReader(task, ReadContext(All, options, hadoop, stream = Some(run)), run, Some(totals), None)
      val end    = System.nanoTime() + millis * 1000000L
      try {
        Iterator.continually(reader.next(end)).take(most).takeWhile(identity).foreach(_ =>
          found += received(reader.row)
        )
        reader.finish().read(topic.name)
      } finally reader.close()
    }
    val deadline = System.nanoTime() + 300L * 1000000000
    val error    =
      try {
        var at = query.from
        while (found.size < rows && System.nanoTime() < deadline)
          at = batch(at, 1 + dice.nextInt(12), 1 + dice.nextInt(50))
        batch(at, 10, 30) // nothing more comes
        None
      } catch { case e: RuntimeException with PulsarError => Some(e) }
      finally BrokerEntries.ended(run)
    val levels = totals.levels
    Followed(
      Found(found.toSeq, 0, 0,
        error.map(e => e.condition + e.parameters.get("position").fold("")(p => s" at $p"))),
      Seq(Tier.Bookies, Tier.Tiered).map(levels.of(_, Measure.Rows)).sum,
      levels.sum(Measure.Rows)
    )
  }

  private def folder = copies.folder.toUri.toString

  /** @param later ledgers with which the topic goes on; then all is backlog */
  private def plan(
      topic: StoredTopic,
      options: ReadOptions,
      query: LevelQuery,
      losses: DataLossPolicy,
      later: Long = 0
  ): Seq[PulsarInputPartition] =
    Using.resource(PulsarConnection(options.client)) { connection =>
      val range = OffsetRange(topic.name, query.from, query.to)
      val tail  = query.stream.map(_ =>
        StreamTail(entries = 3,
          Map(topic.name -> topic.lastMessage.copy(ledgerId = topic.lastMessage.ledgerId + later)))
      )
      val locator = new SegmentLocator(connection.admin, options, hadoop, losses, new KnownStorage)
      SegmentPlan.of(Seq(RequestedRange(range, query.bounds, query.bounds)), locator, options, tail, parallelism = 2)
        .tasks
        .map(slices =>
          PulsarInputPartition(Seq(PlannedSlices(slices, query.bounds, PlannedSchema.Sent(TopicSchema.Bytes))))
        )
    }
}

/** Result of following a topic.
  *
  * @param stored
  *   rows that the broker did not deliver
  * @param counted
  *   all rows by the counts of tasks
  */
private[read] final case class Followed(found: Found, stored: Long, counted: Long)

private object ReadLevels {
  private val All = StructType(
    StructField("value", BinaryType) +: MetadataColumns.all.map(c => StructField(c.name, c.dataType))
  )

  /** Columns for which no payload is opened. */
  private val Places = StructType(All.filter(f => f.name == "__ledgerId" || f.name == "__entryId"))

  /** A row of these alone. */
  private def counted(row: InternalRow): (Position, Option[Received]) = Position(row.getLong(0), row.getLong(1)) -> None

  /** A row and where it is from. */
  private def received(row: InternalRow): (Position, Option[Received]) = {
    def at[A](name: String)(get: (InternalRow, Int) => A): Option[A] = {
      val i = All.fieldIndex(name)
      Option.unless(row.isNullAt(i))(get(row, i))
    }
    def bytes(name: String)  = at(name)(_.getBinary(_).toSeq)
    def text(name: String)   = at(name)(_.getUTF8String(_).toString)
    def number(name: String) = at(name)(_.getLong(_))
    def millis(name: String) = number(name).map(_ / 1000)
    val id                   = MessageId.fromByteArray(at("__messageId")(_.getBinary(_)).get) match {
      case id: MessageIdAdv => id
      case other            => throw new AssertionError(other)
    }
    val properties = at("__messageProperties")(_.getMap(_)).map { map =>
      val (names, values) = (map.keyArray(), map.valueArray())
      (0 until map.numElements()).map(i => names.getUTF8String(i).toString -> values.getUTF8String(i).toString).toMap
    }
    val batchIndex = at("__batchIndex")(_.getInt(_)).getOrElse(-1)
    val place      = Position(number("__ledgerId").get, number("__entryId").get, batchIndex)
    require(text("__position").contains(place.toString) && id.getLedgerId == place.ledgerId, s"$place, $id")
    place -> Some(Received(
      batchIndex,
      id.getBatchSize,
      bytes("value"),
      bytes("__key"),
      at("__keyIsText")(_.getBoolean(_)).contains(false),
      bytes("__orderingKey"),
      properties.getOrElse(Map.empty),
      millis("__eventTime").getOrElse(0L),
      millis("__deliverAt").getOrElse(0L),
      number("__sequenceId").get,
      millis("__publishTime").get,
      text("__producerName").get,
      bytes("__schemaVersion").getOrElse(Nil),
      text("__replicatedFrom"),
      number("__index").getOrElse(-1L),
      millis("__brokerPublishTime").getOrElse(-1L)
    ))
  }
}
