package io.github.pulsarspark.read.task

import scala.collection.mutable

import io.netty.buffer.{ByteBuf, Unpooled}
import org.apache.spark.sql.types.{BinaryType, IntegerType, StructField, StructType}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{LostRanges, PulsarError}
import io.github.pulsarspark.format.{Sent, StoredEntry, Tier, TieredEntrySource, UndecidedTransaction}
import io.github.pulsarspark.metrics.{LastRead, Measure}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{Interval, OffsetRange, Position, PruningBounds}
import io.github.pulsarspark.pulsar.schemas.KnownSchemas
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.storage.segment.{HadoopSettings, Slice}

/** One slice from its entries to its rows: where it begins and ends, what it skips, what it counts. */
class SliceReaderSuite extends UnitSuite {
  import SliceReaderSuite._

  test("a range that begins and ends within batches, the messages between") {
    val reader = read(range("1:0:1", "1:2:0"), batch(0, 3), batch(1, 3), batch(2, 3))
    assertEquals(reader.rows(), Seq("0.2", "1.0", "1.1", "1.2", "2.0"))
  }

  test("a range of whole entries, all of their messages") {
    assertEquals(read(range("1:0", "1:2"), batch(1, 2), single(2)).rows(), Seq("1.0", "1.1", "2.0"))
  }

  test("an entry of the same number in another ledger is no end of the range") {
    val reader =
      read(range("1:0:0", "3:0:0"), batch(0, 2, ledger = 1), batch(0, 2, ledger = 2), batch(0, 2, ledger = 3))
    assertEquals(reader.rows(), Seq("0.1", "0.0", "0.1", "0.0"))
  }

  test("the position: within a batch while messages of it are left, else behind the entry") {
    val reader = read(range("1:-1", "1:1"), batch(0, 2), single(1))
    assertEquals(reader.slice.position.toString, "1:-1")
    val places = Iterator.continually(reader.slice.next()).takeWhile(identity).map(_ => reader.slice.position.toString)
    assertEquals(places.toSeq, Seq("1:0:0", "1:0", "1:1"))
    assertEquals(reader.slice.position.toString, "1:1")
  }

  test("entries outside of the bounds are skipped and counted, and do not count as read last") {
    val early  = PruningBounds(times = Interval(toExclusive = Published + 1))
    val reader = read(range("1:-1", "1:2"), early, batch(0, 1), batch(1, 1, time = Published + 1), batch(2, 1))
    assertEquals(reader.rows(), Seq("0.0", "2.0"))
    assertEquals(reader.parts.counts.skippedEntries, 1L)
    val none = read(range("1:-1", "1:0"), PruningBounds(ledgers = Interval(2, 3)), batch(0, 1))
    assertEquals((none.rows(), none.slice.last, none.slice.position.toString), (Nil, None, "1:0"))
  }

  test("rows, entries and bytes count for the tier that delivered each entry") {
    val (first, second) = (batch(0, 2), batch(1, 3).copy(tier = Tier.Tiered))
    val reader          = read(range("1:-1", "1:1"), first, second)
    reader.rows()
    val levels = reader.parts.counts.levels
    assertEquals(Seq(Tier.Bookies, Tier.Tiered, Tier.Broker).map(levels.of(_, Measure.Rows)), Seq(2L, 3L, 0L))
    assertEquals(Seq(Tier.Bookies, Tier.Tiered).map(levels.of(_, Measure.Entries)), Seq(1L, 1L))
    assertEquals(Seq(Tier.Bookies, Tier.Tiered).map(levels.of(_, Measure.Bytes)),
      Seq(first, second).map(_.bytes.length.toLong))
  }

  test("a slice that is finished adds what it counted, and closes its source only when it is closed") {
    val reader = read(range("1:-1", "1:1"), batch(0, 1), batch(1, 1, time = Published + 9))
    reader.rows()
    reader.slice.finish()
    assertEquals(reader.source.closed, 0)
    assertEquals(reader.parts.counts.last, Map(Topic -> LastRead(Position(1, 1), Published + 9)))
    assertEquals((reader.parts.counts.rejectedEntries, reader.parts.counts.reconnects), (4L, 5L))
    reader.slice.close()
    assertEquals(reader.source.closed, 1)
  }

  test("an entry of a transaction that nobody knows is left to the broker, which goes on with it or after it") {
    val undecided = batch(1, 2, txn = true)
    val reader    = read(range("1:-1", "1:2"), batch(0, 1), undecided, batch(2, 1))
    assertEquals(reader.rows(), Seq("0.0", "1.0", "1.1", "2.0"), "the broker delivers it, so it was committed")
    assertEquals(reader.source.left.toSeq, Seq("admin.url is not set"))
  }

  test("no transaction is looked up where the source hides aborted ones, or for an entry that is skipped") {
    val hiding = read(range("1:-1", "1:1"), batch(1, 2, txn = true).copy(tier = Tier.Broker))
    assertEquals((hiding.rows(), hiding.source.left.toSeq), (Seq("1.0", "1.1"), Nil))
    val skipping = read(range("1:-1", "1:1"), PruningBounds.Nothing, batch(1, 2, txn = true))
    assertEquals((skipping.rows(), skipping.source.left.toSeq), (Nil, Nil))
  }

  private def numbers(action: (String, String)*) =
    new Read(range("1:-1", "1:0"), PruningBounds.Everything, Seq(batch(0, 2)), TopicSchema("INT32"), IntegerType,
      action)

  test("a value that does not decode fails the read, is a row of null, or is skipped: as the option says") {
    val e = intercept[RuntimeException with PulsarError](numbers().rows())
    assertEquals((e.condition, e.parameters("position")), ("PULSAR_VALUE_NOT_DECODABLE", "1:0:0"))
    val (asNull, drop) = (numbers("onDecodeError" -> "null"), numbers("onDecodeError" -> "drop"))
    assertEquals((asNull.rows(), drop.rows()), (Seq("null", "null"), Nil))
    assertEquals(Seq(asNull, drop).map(_.parts.counts.decodeErrors), Seq(2L, 2L))
    assertEquals(Seq(asNull, drop).map(_.parts.counts.levels.of(Tier.Bookies, Measure.Rows)), Seq(2L, 0L))
  }

  test("a version of a schema in a range without an end is that of the ledger of its message") {
    val avro    = TopicSchema("AVRO", """{"type":"record","name":"R","fields":[{"name":"value","type":"int"}]}""")
    val version = Array[Byte](0, 0, 0, 0, 0, 0, 0, 9)
    val seven   = StoredEntry(Seq(Sent.text("\u000e")), batched = true,
      metadata = m => { m.setSchemaVersion(version); () })
    val reader = new Read(
      range("1:-1", "1:0").copy(endInclusive = Position.AfterAll),
      PruningBounds.Everything,
      Seq(Delivered(Position(1, 0), seven.array, Tier.Bookies)),
      avro,
      IntegerType,
      Nil
    )
    KnownSchemas.ofThisJvm.at(reader.client, Topic, version, ledgerId = 1)(avro)
    assert(reader.slice.next())
    assertEquals(reader.slice.row.getInt(0), 7, "nothing is requested")
  }

  test("a damaged entry is an error with its place") {
    val good  = batch(0, 1)
    val wrong = good.copy(bytes = good.bytes.updated(good.bytes.length - 1, 'X'.toByte))
    val e     = intercept[RuntimeException with PulsarError](read(range("1:-1", "1:0"), wrong).rows())
    assertEquals((e.condition, e.parameters("position")), ("PULSAR_ENTRY_CORRUPT", "1:0"))
  }
}

private object SliceReaderSuite {
  val Topic     = "persistent://public/default/t-partition-3"
  val Published = 1700000000123L

  final case class Delivered(at: Position, bytes: Array[Byte], tier: Tier)

  def range(from: String, to: String): OffsetRange =
    OffsetRange(Topic, Position.parse(from).get, Position.parse(to).get)

  private def stored(entry: Long, ledger: Long, messages: Int, batched: Boolean, time: Long, txn: Boolean) = Delivered(
    Position(ledger, entry),
    StoredEntry(
      Seq.tabulate(messages)(i => Sent.text(s"$entry.$i")),
      batched,
      metadata = m => {
        m.setPublishTime(time)
        if (txn) m.setTxnidMostBits(ledger).setTxnidLeastBits(entry)
        ()
      }
    ).array,
    Tier.Bookies
  )

  def batch(entry: Long, messages: Int, ledger: Long = 1, time: Long = Published, txn: Boolean = false): Delivered =
    stored(entry, ledger, messages, batched = true, time, txn)

  def single(entry: Long): Delivered = stored(entry, 1, 1, batched = false, Published, txn = false)

  def read(range: OffsetRange, entries: Delivered*): Read = read(range, PruningBounds.Everything, entries: _*)

  def read(range: OffsetRange, bounds: PruningBounds, entries: Delivered*): Read =
    new Read(range, bounds, entries, TopicSchema.Bytes, BinaryType, Nil)

  /** A slice of these entries. */
  final class Read(
      range: OffsetRange,
      bounds: PruningBounds,
      entries: Seq[Delivered],
      schema: TopicSchema,
      kind: org.apache.spark.sql.types.DataType,
      more: Seq[(String, String)]
  ) {
    private val settings = Map("service.url" -> "pulsar://slice.test:1", "topic" -> "t") ++ more
    private val options  = ReadOptions(CheckedOptions(settings, Scope.BatchRead, _ => Nil))
    private val output   = StructType(Seq(StructField("value", kind)))
    def client           = options.client
    val source           = new Source(entries)
    val parts            = new TaskParts(ReadContext(output, options, HadoopSettings.none), None)

    val slice = new SliceReader(PlannedSlice(Slice.ByBroker(range), bounds, PlannedSchema.Sent(schema)), parts, source)

    /** The values of the rows that are left. */
    def rows(): Seq[String] = Iterator.continually(slice.next()).takeWhile(identity).map { _ =>
      if (slice.row.isNullAt(0)) "null" else new String(slice.row.getBinary(0))
    }.toList
  }

  /** Entries in memory. The broker delivers, too, what is left to it. */
  final class Source(entries: Seq[Delivered]) extends TieredEntrySource {
    private var remaining        = entries.toList
    private var current          = Option.empty[Delivered]
    private var atBroker         = false
    private var buffer: ByteBuf  = Unpooled.EMPTY_BUFFER
    var closed                   = 0
    val left                     = mutable.Buffer.empty[String]
    override def ledgerId: Long  = current.get.at.ledgerId
    override def entryId: Long   = current.get.at.entryId
    override def entry: ByteBuf  = buffer
    override def level: Tier     = if (atBroker) Tier.Broker else current.get.tier
    override def next(): Boolean = {
      current = remaining.headOption
      remaining = remaining.drop(1)
      buffer = current.fold(Unpooled.EMPTY_BUFFER)(e => Unpooled.wrappedBuffer(e.bytes))
      current.nonEmpty
    }
    override def leaveToBroker(undecided: UndecidedTransaction): Unit = {
      left += undecided.getMessage
      remaining = current.toList ++ remaining
      atBroker = true
    }
    override def lost: LostRanges      = LostRanges.none
    override def rejectedEntries: Long = 4
    override def reconnects: Long      = 5
    override def close(): Unit         = closed += 1
  }
}
