package io.github.pulsarspark.read

import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.errors.DataLossPolicy
import io.github.pulsarspark.client.{Broker, ClientLease, ClientPool, ConnectedBroker}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.schema.{SchemaTranslation, TopicSchema}
import io.github.pulsarspark.storage.{HadoopSettings, SegmentCatalog}

/** What the driver needs of a cluster to plan a read. Closing it ends every subscription it made. */
private[pulsarspark] final class DriverSession private (lease: ClientLease, options: ReadOptions) extends AutoCloseable {

  val broker: Broker = new ConnectedBroker(lease, options.subscriptionPrefix, options.readCompacted)

  private[read] val discovery = new Discovery(options.topics, options.schemaMode, options.protobuf, broker, options.client.serviceUrl)

  /** The columns of the table these options are about, before any query. */
  def columns(metadataColumns: Option[String]): StructType =
    SourceColumns.shown(SourceColumns.values(discovery.schemas(discovery.topics().keys)), metadataColumns, options.errorColumns)

  /** The schemas that `topics` are read with, which must have `columns`, the ones Spark was told of, and tell how the `wanted` ones are read. */
  private[read] def schemas(topics: Iterable[String], columns: StructType, wanted: StructType): Map[String, TopicSchema] = {
    val schemas = discovery.schemas(topics)
    SchemaTranslation.checkUserSchema(columns, SourceColumns.all(SourceColumns.values(schemas), options.errorColumns))
    schemas.foreach { case (topic, schema) => SchemaTranslation.checkKnown(topic, schema, wanted) }
    schemas.toMap
  }

  /** Says who reads what. */
  private[read] def segments(hadoop: HadoopSettings, losses: DataLossPolicy): SegmentCatalog =
    new SegmentCatalog(lease, options, hadoop, losses)

  override def close(): Unit = broker.close()
}

private[pulsarspark] object DriverSession {
  def apply(options: ReadOptions): DriverSession = {
    DeadLetters.check(options)
    new DriverSession(ClientPool.acquire(options.client), options)
  }
}
