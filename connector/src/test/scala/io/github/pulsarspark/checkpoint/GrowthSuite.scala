package io.github.pulsarspark.checkpoint

import java.util.UUID

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.checkpoint.log._
import io.github.pulsarspark.position.Position

/** The size of a store that a query writes for ever, by [[StoreSettings]] as they are by default. What brokers have to
  * keep is counted, as if each of their ledgers had one record.
  */
class GrowthSuite extends UnitSuite {
  import GrowthSuite._

  private val least = {
    val made = new Configuration(false)
    made.set("pulsar-fs.service.url", "pulsar://localhost:6650")
    StoreSettings(made).snapshotAfter
  }

  test(
    "a store with a content that stays for ever is bounded over 100,000 micro-batches"
  ) {
    val stores = (1 to Batches).iterator.scanLeft(Simulated())((store, batch) => store.afterBatch(batch, least))
    val sizes  = stores.map(store => (store.contentBytes, store.logRecords)).toVector
    val files  = (Retained + 1L) * 2 * Bytes
    assert(sizes.map(_._1).max < files + 32_000_000, sizes.map(_._1).max)
    assert(sizes.map(_._2).max < 11_000, sizes.map(_._2).max)
    assertEquals(sizes.drop(Batches / 2).map(_._2).max, sizes.take(Batches / 2).map(_._2).max)
  }
}

private object GrowthSuite {
  private val (batchRecords, writer) = (8, UUID.nameUUIDFromBytes(Array(1)))
  private val Batches                = 100_000
  private val Retained               = 100
  private val Bytes                  = 3_000L

  /** A store, how many contents were written, and how many records its log had before its root. */
  private final case class Simulated(state: LogState, contents: Long, number: Long, root: Long) {

    /** Bytes of contents above the floor. */
    def contentBytes: Long = (contents - math.max(state.floor.entryId, -1) - 1) * Bytes
    def logRecords: Long   = number - root

    /** The store after a micro-batch: two contents, which replace those of an earlier one, and small files. */
    def afterBatch(batch: Int, least: LogSize): Simulated = {
      val slot  = batch % Retained
      val after = Seq("a", "b").foldLeft(this)((store, name) => store.put(Seq(name, s"$slot"))).small(slot)
      if (after.state.isSnapshotDue(least)) after.snapshot(least) else after
    }

    private def put(path: Seq[String]): Simulated =
      copy(contents = contents + 1).changed(Change.Put(path, overwrite = true, apart(contents)))

    private def small(slot: Int): Simulated = (1 to batchRecords - 2).foldLeft(this)((store, n) =>
      store.changed(Change.Put(Seq(s"small$n", s"$slot"), overwrite = true, new Content(new Array[Byte](200))))
    )

    /** Makes a snapshot as [[SnapshotWriter]] does. */
    private def snapshot(least: LogSize): Simulated = {
      val copied = state.old(least).foldLeft(this) { case (store, (path, old)) =>
        store.copy(contents = store.contents + 1).changed(Change.Copied(path, old.places, apart(store.contents)))
      }
      val id    = UUID.nameUUIDFromBytes(Array.tabulate(8)(n => (number >> (8 * n)).toByte))
      val begun = copied.changed(Change.SnapshotBegin(id)).copy(root = copied.number)
      begun.changed(Change.SnapshotEnd(id, 0, 0))
    }

    private def changed(change: Change): Simulated = {
      val folded = state + LogRecord(writer, number + 1, 0, change)
      copy(state = folded.state, number = number + 1)
    }
  }

  private object Simulated {
    def apply(): Simulated = {
      val created = LogState.created(LogRecord(writer, 1, 0, Change.Created(writer)), writer)
      Simulated(created, 0, 1, 0).put(Seq("kept"))
    }
  }

  private def apart(entry: Long) = Apart(Bytes, 7, Seq(Position(1, entry)))
}
