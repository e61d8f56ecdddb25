package io.github.pulsarspark.catalog

import java.util.UUID
import java.util.concurrent.CompletableFuture

import scala.util.Using
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.analysis.{NoSuchNamespaceException, NoSuchTableException, TableAlreadyExistsException}
import org.apache.spark.sql.connector.catalog.Identifier
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.{RawOptions, Scope}
import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.admin.{AdminApi, Outcome}
import io.github.pulsarspark.pulsar.connection.{ClientSettings, ClusterCalls}
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.keyvalue.KeyValueChoice
import io.github.pulsarspark.schema.rows.WritePlanner

/** Creates, changes and deletes topics. A topic is made before its schema, because a schema alone would be kept without
  * a topic. Brokers register schemas with producers, which refuse what is not compatible.
  */
private[catalog] final class TopicChanges(options: CatalogOptions) {

  /** Creates a topic with its schema and policies. Fails with `TableAlreadyExistsException` when there is one, also
    * when it appeared a moment ago. A topic whose schema or policy is refused is deleted again.
    */
  def create(ident: Identifier, topic: String, definition: TopicDefinition): CreatedTopic = {
    val made   = CreatedTopic(topic, definition.partitions, s"spark-create-${UUID.randomUUID()}-")
    val write  = writeOptions(topic, definition.schema)
    val schema = Option.when(definition.columns.nonEmpty)(planned(topic, definition, write))
    withAdmin("CREATE TABLE") { (connection, admin) =>
      ask(s"Creating topic $topic", admin)(_.create(topic, definition.partitions, made.producerPrefix)) match {
        case Outcome.Done   => ()
        case Outcome.Exists => throw new TableAlreadyExistsException(ident)
        case Outcome.Absent => throw new NoSuchNamespaceException(ident.namespace)
        case other          => failed(s"Creating topic $topic", admin, other)
      }
      try {
        schema.foreach(connection.producer(topic, _, write).close())
        new TopicPolicies(options.client, admin).change(ident, topic, definition.policies)
      } catch {
        case e: Throwable =>
          undo(made)
          throw e
      }
      made
    }
  }

  /** Deletes a topic that this catalog made a moment ago with the rows of its statement, unless somebody else uses it
    * already or wrote into it. Never fails.
    */
  def undo(made: CreatedTopic): Unit = {
    def stays(why: String): Unit =
      TopicChanges.log.warn("Topic {}, which was created in vain, stays: {}", made.topic: Any, why: Any)
    try
      withAdmin("CREATE TABLE") { (connection, admin) =>
        if (connection.mayHaveOthers(made.partitions, made.producerPrefix)) stays("others have written into it")
        else
          ask(s"Deleting topic ${made.topic}", admin)(_.delete(made.topic, made.isPartitioned)) match {
            case Outcome.Done | Outcome.Absent => ()
            case other                         => stays(other.toString)
          }
      }
    catch { case NonFatal(e) => stays(e.toString) }
  }

  /** Adds columns as a new version of the schema, and partitions; changes policies. */
  def alter(ident: Identifier, topic: String, alteration: Alteration): Unit = {
    if (alteration.columns.nonEmpty) Using.resource(PulsarConnection(options.client)) { connection =>
      if (connection.broker().partitions(Seq(topic)).isEmpty) throw new NoSuchTableException(ident)
      val schema = connection.broker().schema(topic).getOrElse(TopicSchema.Bytes)
      val next   = WritePlanner.extended(topic, schema, alteration.columns).fold(
        why =>
          throw Conditions.CatalogStatement(statement = s"ADD COLUMN for topic $topic", why = why,
            instead = "Columns can be added to topics with a schema of type AVRO or JSON").exception,
        identity
      )
      connection.producer(topic, next, writeOptions(topic, Map.empty)).close()
    }
    alteration.partitions.foreach { partitions =>
      withAdmin("SET TBLPROPERTIES (partitions)") { (_, admin) =>
        val what = s"Setting the number of partitions of topic $topic"
        ask(what, admin)(_.setPartitions(topic, partitions)) match {
          case Outcome.Done   => ()
          case Outcome.Absent => throw new NoSuchTableException(ident)
          case other          => failed(what, admin, other)
        }
      }
    }
    if (alteration.policies.values.nonEmpty) withAdmin(s"TBLPROPERTIES (${alteration.policies})") { (_, admin) =>
      new TopicPolicies(options.client, admin).change(ident, topic, alteration.policies)
    }
  }

  /** Deletes a topic with its messages and its schema; false if there is none. */
  def drop(topic: String): Boolean = {
    if (!options.allowDrop)
      throw Conditions.CatalogStatement(
        statement = s"DROP TABLE of topic $topic",
        why = "it would delete the topic with its messages, and the catalog does not allow that",
        instead = s"To allow it, set `spark.sql.catalog.${options.catalog}.allowDrop` to true before the catalog is " +
          "first used"
      ).exception
    withAdmin("DROP TABLE") { (connection, admin) =>
      connection.broker().partitions(Seq(topic)).get(topic).exists { partitions =>
        val what = s"Deleting topic $topic"
        connection.closeKeptProducers(topic)
        ask(what, admin)(_.delete(topic, isPartitioned = partitions != Seq(topic))) match {
          case Outcome.Done            => true
          case Outcome.Absent          => false
          case Outcome.Refused(reason) =>
            throw Conditions.TopicInUse(topic = topic, url = admin.url, cause = reason).exception
          case other => failed(what, admin, other)
        }
      }
    }
  }

  private def planned(topic: String, definition: TopicDefinition, write: WriteOptions): TopicSchema = WritePlanner(
    definition.columns,
    Some(topic),
    None,
    write.schemaType,
    KeyValueChoice.of(write.keySchemaType, write.valueSchemaType, write.keyValueEncoding)
  ).schema

  private def writeOptions(topic: String, schema: Map[String, String]): WriteOptions =
    WriteOptions(
      new RawOptions(schema + ("topic" -> topic), ClientSettings.fields, options.all).check(Scope.BatchWrite)
    )

  private def withAdmin[A](statement: String)(body: (PulsarConnection, AdminApi) => A): A =
    Using.resource(PulsarConnection(options.client)) { connection =>
      body(
        connection,
        connection.admin.getOrElse(
          throw Conditions.CatalogAdmin(statement = statement, catalog = options.catalog).exception
        )
      )
    }

  private def ask(what: String, admin: AdminApi)(request: AdminApi => CompletableFuture[Outcome]): Outcome =
    new ClusterCalls(options.client, admin.url).await(what)(request(admin))

  private def failed(what: String, admin: AdminApi, outcome: Outcome): Nothing = {
    val cause = outcome match {
      case Outcome.Refused(reason) => reason
      case other                   => other.toString
    }
    throw Conditions.RequestFailed(what = what, url = admin.url, cause = cause).exception
  }
}

/** A topic that a statement made.
  *
  * @param count
  *   of its partitions; 0 for a topic that is not partitioned
  * @param producerPrefix
  *   start of the names of the statement's own producers
  */
private[catalog] final case class CreatedTopic(topic: String, count: Int, producerPrefix: String) {
  def isPartitioned: Boolean  = count > 0
  def partitions: Seq[String] = TopicNames.partitions(topic, count)
}

private object TopicChanges {
  private val log = LoggerFactory.getLogger(classOf[TopicChanges])
}
