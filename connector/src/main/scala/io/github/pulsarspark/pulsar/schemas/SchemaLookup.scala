package io.github.pulsarspark.pulsar.schemas

import java.util.Optional
import java.util.concurrent.CompletableFuture

import scala.jdk.OptionConverters._

import org.apache.pulsar.client.impl.schema.SchemaInfoUtil
import org.apache.pulsar.client.impl.{ClientCnx, PulsarClientImpl}
import org.apache.pulsar.common.api.proto.{CommandGetSchemaResponse, ServerError}
import org.apache.pulsar.common.naming.TopicName
import org.apache.pulsar.common.protocol.Commands
import org.apache.pulsar.common.protocol.schema.{BytesSchemaVersion, SchemaVersion}
import org.apache.pulsar.common.schema.SchemaInfo

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.pulsar.topics.TopicMissing
import io.github.pulsarspark.pulsar.connection.{ClusterCalls, CurrentLookup}
import io.github.pulsarspark.schema.TopicSchema

/** Requests the schemas of topics. Keeps none of them. */
private[pulsar] final class SchemaLookup(client: PulsarClientImpl, answers: ClusterCalls) {

  /** The newest schema of each topic that has one, many topics at a time. It has its version, but not over HTTP, where
    * the client drops it.
    */
  def newest(topics: Seq[String]): Map[String, TopicSchema] =
    answers
      .awaitAll(topics)(t => s"Fetching the schema of $t")(topic =>
        answers
          .repeat(() => request(topic))
          .thenApply[Option[(String, TopicSchema)]](_.map(topic -> _))
      )
      .flatten
      .toMap

  /** The schema of one version. That there is none counts only by the broker that serves the topic: another one may not
    * have heard of the version, although messages have it.
    */
  def at(topic: String, version: Array[Byte]): TopicSchema = {
    val text = SchemaInfos.versionText(version)
    val what = s"Fetching schema version $text of $topic"
    answers
      .ask(what)(() => client.getLookup.getSchema(TopicName.get(topic), version))
      .toScala
      .map(SchemaInfos.toTopicSchema(_, version))
      .orElse(answers.ask(what)(() => send(client.getConnection(topic), topic, Some(version))))
      .getOrElse(throw Conditions.SchemaVersionMissing(topic = topic, version = text).exception)
  }

  private def request(topic: String): CompletableFuture[Option[TopicSchema]] =
    if (client.getLookup.isBinaryProtoLookupService) send(client.getConnectionToServiceUrl, topic, None)
    else
      CurrentLookup(() => client.getLookup.getSchema(TopicName.get(topic)))
        .exceptionally { case TopicMissing(_) => Optional.empty[SchemaInfo]; case e => throw e }
        .thenApply(_.toScala.map(SchemaInfos.toTopicSchema(_, Array.emptyByteArray)))

  /** @param version
    *   None for the newest
    */
  private def send(
      broker: CompletableFuture[ClientCnx],
      topic: String,
      version: Option[Array[Byte]]
  ): CompletableFuture[Option[TopicSchema]] = broker.thenCompose { connection =>
    val id = client.newRequestId()
    connection
      .sendGetRawSchema(Commands.newGetSchema(id, topic, version.map[SchemaVersion](BytesSchemaVersion.of).toJava), id)
      .whenComplete((_, _) => client.getCnxPool.releaseConnection(connection))
      .thenApply(fromResponse(_))
  }

  private def fromResponse(response: CommandGetSchemaResponse): Option[TopicSchema] =
    if (!response.hasErrorCode) {
      val version = if (response.hasSchemaVersion) response.getSchemaVersion else Array.emptyByteArray
      Some(SchemaInfos.toTopicSchema(SchemaInfoUtil.newSchemaInfo(response.getSchema), version))
    } else if (response.getErrorCode == ServerError.TopicNotFound) None
    else throw ClientCnx.getPulsarClientException(response.getErrorCode, response.getErrorMessage)
}
