package io.github.pulsarspark.catalog

import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.analysis.NoSuchTableException
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCatalog}
import org.apache.spark.sql.types.StructType
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.inspect.{MetadataTable, MetadataViews}
import io.github.pulsarspark.options.registry.{NearestName, Scope, TranslationWarning}
import io.github.pulsarspark.options.{ReadOptions, SessionOptions}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.read.plan.{DriverSession, SourceColumns}
import io.github.pulsarspark.{PulsarTable, TableProperties, TopicFacts}

/** Topics as tables of Spark. Each call requests what it returns. */
private[catalog] final class TopicTables(options: CatalogOptions, names: CatalogNames) {

  /** The table of a name. Fails with `NoSuchTableException` only when the cluster says that there is no such topic. */
  def load(ident: Identifier, asOf: Option[AsOf] = None): Table =
    candidates(ident).iterator.flatMap(table(_, asOf)).nextOption().getOrElse(throw absent(ident))

  /** True if the topic of a name exists; one request. */
  def exists(ident: Identifier): Boolean = candidates(ident).exists(t => exists(t.topic))

  private def exists(topic: String): Boolean =
    Using.resource(PulsarConnection(options.client))(_.broker().partitions(Seq(topic)).contains(topic))

  private def candidates(ident: Identifier) = names.candidates(ident.namespace.toSeq, ident.name)

  private def table(located: Located, asOf: Option[AsOf]): Option[Table] = located match {
    case Located.Topic(topic)                          => table(topic, asOf)
    case Located.Metadata(topic, TopicTables.Messages) =>
      table(topic, asOf, SourceColumns.all(_, errorColumns = false, SessionOptions.isCaseSensitive))
    case Located.Metadata(topic, view) => MetadataViews.find(view).filter(_ => exists(topic)).map { found =>
        val name = s"$topic.$view"
        asOf.foreach(a => throw AsOf.refused(a, name, "a metadata table shows what is now", s"Remove ${a.clause}"))
        val definition = this.definition(topic) + (s"${TableCatalog.OPTION_PREFIX}metadata" -> view)
        val warning    = TranslationWarning()
        new MetadataTable(found, name, TableProperties.rawOptions(definition.asJava, options.all, _, warning))
      }
  }

  /** The table of a topic; None if it does not exist.
    *
    * @param columns
    *   the columns that are not hidden, from those of the value
    */
  def table(
      topic: String,
      asOf: Option[AsOf] = None,
      columns: StructType => StructType = identity
  ): Option[PulsarTable] = {
    val definition =
      (this.definition(topic) ++
        asOf.map(a => s"${TableCatalog.OPTION_PREFIX}${a.option._1}" -> a.option._2)).asJava
    val raw  = TableProperties.rawOptions(definition, options.all)
    val read = ReadOptions(raw, Scope.BatchRead, Scope.StreamRead).copy(allowMissingTopics = false)
    try
      Using.resource(DriverSession(read)) { session =>
        val topics  = session.discovery.topics()
        val schemas = session.schemasOf(topics.keys)
        val facts   =
          TopicFacts(topics.values.flatten.count(_ != topic), schemas.map(_._2.schemaType).mkString,
            asOf.map(_.clause), () => policies(topic))
        Some(new PulsarTable(columns(SourceColumns.values(schemas)), definition, options.all, Some(facts)))
      }
    catch { case e: RuntimeException if Conditions.TopicNotFound.is(e) => None }
  }

  /** The properties for policies of a topic; none, with a warning in the log, where the role may not see them. */
  private def policies(topic: String): Map[String, String] =
    try
      Using.resource(PulsarConnection(options.client))(
        _.admin.fold(Map.empty[String, String])(new TopicPolicies(options.client, _).properties(topic))
      )
    catch {
      case NonFatal(e) =>
        TopicTables.log.warn("The policies of topic {} are not shown: {}", topic, e.getMessage)
        Map.empty
    }

  private def definition(topic: String) = Map(
    TableCatalog.PROP_PROVIDER            -> SessionOptions.Name,
    s"${TableCatalog.OPTION_PREFIX}topic" -> topic
  )

  /** The error for a name without a table. Spark replaces the text of its own one, so the log has the nearest name. A
    * topic that a list shows for its partitions has an error of ours.
    */
  private def absent(ident: Identifier): Exception =
    try
      candidates(ident).headOption.flatMap { located =>
        val namespace = TopicNames.namespace(located.topic)
        val existing  = Using.resource(PulsarConnection(options.client))(_.broker().names(namespace))
        if (existing.contains(located.topic) && !exists(located.topic))
          Some(Conditions.TopicNotPartitioned(topic = located.topic).exception)
        else {
          NearestName(TopicNames.local(located.topic), existing.map(TopicNames.local)).foreach(near =>
            TopicTables.log.warn("Topic {} does not exist; the nearest name in {} is {}.", located.topic, namespace,
              near)
          )
          None
        }
      }.getOrElse(new NoSuchTableException(ident))
    catch { case NonFatal(_) => new NoSuchTableException(ident) }
}

private[catalog] object TopicTables {

  /** Name of the table of a topic that shows all metadata columns. */
  private val Messages = "messages"

  /** Names of the tables that each topic has besides itself; other metadata tables are not about one topic. */
  val Views: Set[String] =
    (Set("partitions", "ledgers", "schemas", "subscriptions", "lag") & MetadataViews.all.map(_.name).toSet) + Messages

  private val log = LoggerFactory.getLogger(classOf[TopicTables])
}
