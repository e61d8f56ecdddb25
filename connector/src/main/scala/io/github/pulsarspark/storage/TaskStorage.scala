package io.github.pulsarspark.storage

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.storage.bookkeeper.Reachability
import io.github.pulsarspark.storage.bookkeeper.protocol.WireConnections
import io.github.pulsarspark.storage.segment.{HadoopSettings, Slice}

/** What the slices of one task share when the broker is bypassed: connections to bookies. Used by one thread; closed
  * after the sources it opened.
  */
private[pulsarspark] final class TaskStorage(options: ReadOptions, hadoop: HadoopSettings) extends AutoCloseable {

  private val connections  = new WireConnections(options.bookKeeper)
  private val reachability = new Reachability(options.bookKeeper)

  def entries(slice: Slice): SegmentEntrySource =
    new SegmentEntrySource(slice, options, hadoop, connections, reachability)

  override def close(): Unit = connections.close()
}
