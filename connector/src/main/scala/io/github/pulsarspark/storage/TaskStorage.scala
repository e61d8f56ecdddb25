package io.github.pulsarspark.storage

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.storage.segment.{HadoopSettings, Slice}

/** Stores of one task with their connections, shared by its slices. Used by one thread; closed after the sources it
  * opened.
  */
private[pulsarspark] final class TaskStorage(options: ReadOptions, hadoop: HadoopSettings, stream: Option[String])
    extends AutoCloseable {

  private val stores = SegmentStores(options, hadoop)

  @volatile private var moved = Set.empty[String] // by one thread

  def entries(slice: Slice): SegmentEntrySource =
    SegmentEntrySource(slice, options, hadoop, stores, stream, topic => moved += topic)

  /** Topic partitions with ledgers that were not where the driver thought. */
  def movedTopics: Set[String] = moved

  override def close(): Unit = stores.close()
}
