package io.github.pulsarspark.read.plan

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.common.JavaBytes
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.{OnDecodeError, ReadOptions, SessionOptions}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.admin.AdminApi
import io.github.pulsarspark.pulsar.broker.BrokerApi
import io.github.pulsarspark.pulsar.crypto.MessageDecryptor
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.read.task.PlannedSchema
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.UserColumns
import io.github.pulsarspark.schema.rows.SchemaTranslation

/** The driver's connection to a cluster, to plan a read. Closing it ends every subscription it opened. */
private[pulsarspark] final class DriverSession private (
    private[read] val connection: PulsarConnection,
    options: ReadOptions
) extends AutoCloseable {

  val broker: BrokerApi = connection.broker(options.subscriptionPrefix, options.readCompacted)

  private[pulsarspark] def admin: Option[AdminApi] = connection.admin

  private[pulsarspark] val discovery =
    new Discovery(options.topics, options.allowMissingTopics, options.schemaMode, options.protobuf, broker,
      options.client.serviceUrl)

  /** The columns of the table, before any query. */
  def columns: StructType =
    SourceColumns.shown(SourceColumns.values(topicSchemas), options.metadataColumns, options.errorColumns,
      SessionOptions.isCaseSensitive)

  /** The current topics, each with the schema it is read as. */
  def topicSchemas: Seq[(String, TopicSchema)] = schemasOf(discovery.topics().keys)

  /** The schemas that current topics are read as. */
  def schemasOf(topics: Iterable[String]): Seq[(String, TopicSchema)] = {
    val newest = discovery.schemas(topics)
    tracking.fold(newest)(_.merged(newest))
  }

  /** The schemas that `topics` are read with. Fails unless they have `columns` and can be read as `output`.
    *
    * @param columns
    *   the table's columns as Spark knows them
    * @param output
    *   the columns of the query
    * @param known
    *   schemas that the query already reads topics with
    */
  private[read] def schemas(
      topics: Iterable[String],
      columns: StructType,
      output: StructType,
      known: Map[String, TopicSchema] = Map.empty
  ): Map[String, TopicSchema] = {
    val schemas = known ++ schemasOf(topics.filterNot(known.contains))
    val values  = valuesOf(unread ++ schemas)
    SourceColumns.checkFields(StructType(columns.fields ++ output.fields), values)
    checkColumns(columns, values, schemas)
    schemas.toSeq.distinctBy(_._2.withoutVersion).foreach { case (topic, schema) =>
      SchemaTranslation.checkKnown(topic, schema, output)
    }
    tracking.foreach(_.keep(schemas))
    schemas
  }

  /** A micro-batch may have none of the topics that a column comes from: then all topics of the stream count. */
  private def checkColumns(columns: StructType, values: StructType, schemas: Map[String, TopicSchema]): Unit =
    if (UserColumns.mismatch(columns, allOf(values)).isDefined) {
      unread = schemasOf(discovery.topicsLeft().keys.filterNot(schemas.contains)).toMap
      UserColumns.check(columns, allOf(valuesOf(unread ++ schemas)))
    }

  private def allOf(values: StructType) =
    SourceColumns.all(values, options.errorColumns, SessionOptions.isCaseSensitive)

  private def valuesOf(schemas: Map[String, TopicSchema]) =
    SourceColumns.values(schemas.toSeq.sortBy(_._1), translated)

  /** Schemas of topics that the stream may read later, by which its columns were checked. */
  private var unread = Map.empty[String, TopicSchema]

  private val translated = new SourceColumns.Translated

  private lazy val tracking: Option[SchemaTracking] =
    options.schemaTrackingLocation.map(new SchemaTracking(_, SparkSession.active.sparkContext.hadoopConfiguration))

  private[read] val taskSchemas =
    new TaskSchemas(schema =>
      DriverSession.spark.fold[PlannedSchema](PlannedSchema.Sent(schema))(spark =>
        PlannedSchema.Shared(spark.sparkContext.broadcast(JavaBytes(schema)))
      )
    )

  override def close(): Unit = connection.close()
}

private[pulsarspark] object DriverSession {

  /** The session that plans; None without Spark, for the command line. */
  private[plan] def spark: Option[SparkSession] = SparkSession.getActiveSession.orElse(SparkSession.getDefaultSession)

  def apply(options: ReadOptions): DriverSession = {
    checkDeadLetters(options)
    options.privateKeys.foreach(MessageDecryptor.check)
    new DriverSession(PulsarConnection(options.client), options)
  }

  /** A read that also reads its dead letters would never end. */
  private def checkDeadLetters(options: ReadOptions): Unit = options.onDecodeError match {
    case OnDecodeError.DeadLetter(topic) if TopicNames.includes(options.topics, topic) =>
      throw Conditions.OptionInvalid(option = "dlqTopic", value = topic,
        allowed = "a topic that the query does not read").exception
    case _ => ()
  }
}
