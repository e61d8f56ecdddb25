package io.github.pulsarspark.storage.offload

import scala.concurrent.duration.FiniteDuration
import scala.util.{Try, Using}

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.storage.segment.{OffloadBlock, OffloadedLedger}

/** Reads what brokers have offloaded, without a broker, over Hadoop's file systems.
  *
  * Errors: `PULSAR_OFFLOAD_GONE` when the copy is not there (any more), `PULSAR_OFFLOAD_CORRUPT` when it is not what it
  * should be, `PULSAR_OFFLOAD_UNSUPPORTED` for a format that is not read here, `PULSAR_OFFLOAD_FAILED` and
  * `PULSAR_OFFLOAD_TIMEOUT` when the storage does not give it.
  */
private[pulsarspark] object OffloadedLedgers {

  private val SmallestChunk = 64L << 10
  private val LargestChunk  = 8L << 20

  /** Entries `first` to `last`, both included.
    *
    * @param configuration
    *   of the file systems; may hold secrets and is never printed
    * @param readAheadBytes
    *   the most to keep in memory, apart from entries that are larger
    * @param deadline
    *   the longest that `next()` may wait
    */
  def open(
      ledger: OffloadedLedger,
      first: Long,
      last: Long,
      configuration: Configuration,
      readAheadBytes: Long,
      deadline: FiniteDuration
  ): EntrySource = {
    require(first >= 0 && first <= last, s"entries $first to $last")
    val chunkBytes =
      math.min(LargestChunk, math.max(SmallestChunk, readAheadBytes / 2)).toInt // one is read, the other filled
    new OffloadedEntrySource(
      new StorageThread(ledger, first, deadline),
      last,
      () => OffloadedFiles.open(ledger, first, last, chunkBytes, configuration)
    )
  }

  /** For each ledger its blocks, where ranges of it had better begin; none when they may begin anywhere. Several
    * indexes are read at a time.
    *
    * An index that cannot be read is an error: `PULSAR_OFFLOAD_TIMEOUT` when the storage had half of the deadline to
    * answer and did not, [[BlockIndexLoader.NoTime]] when it had not.
    *
    * @param deadline
    *   for all of them together
    */
  def blocks(
      ledgers: Seq[OffloadedLedger],
      configuration: Configuration,
      deadline: FiniteDuration
  ): Seq[Try[Seq[OffloadBlock]]] =
    Using.resource(new BlockIndexLoader(configuration, deadline))(_.of(ledgers))
}
