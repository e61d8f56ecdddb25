package io.github.pulsarspark.storage

import scala.util.Using

import io.github.pulsarspark.errors.DataLossPolicy
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.OffsetRange
import io.github.pulsarspark.pulsar.{BrokerEntries, PulsarConnection}
import io.github.pulsarspark.storage.segment.{HadoopSettings, Slice}

/** Stores of one reader with their connections, shared by its slices. Used by one thread; closed after the sources it
  * opened.
  *
  * @param stream
  *   the run of a stream, whose readers at broker level go on in the next micro-batch
  */
private[pulsarspark] final class TaskStorage(options: ReadOptions, hadoop: HadoopSettings, stream: Option[String])
    extends AutoCloseable {

  private val stores = SegmentStores(options, hadoop)

  @volatile private var moved = Set.empty[String] // by one thread

  /** @param whenMoved
    *   called before the rest of the slice is located again
    */
  def entries(slice: Slice, whenMoved: () => Unit = () => ()): SegmentEntrySource =
    new SegmentEntrySource(slice, options, stores, BrokerEntries.entries(_, options, _, stream),
      (rest, losses) => {
        moved += rest.topic
        whenMoved()
        located(rest, losses)
      })

  private def located(range: OffsetRange, losses: DataLossPolicy): Seq[Slice] =
    Using.resource(PulsarConnection(options.client))(connection =>
      new SegmentLocator(connection.admin, options, hadoop, losses, new KnownStorage).slices(Seq(range))
    )

  /** Topic partitions with ledgers that were not where the driver thought. */
  def movedTopics: Set[String] = moved

  override def close(): Unit = stores.close()
}
