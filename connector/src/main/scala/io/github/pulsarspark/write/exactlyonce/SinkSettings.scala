package io.github.pulsarspark.write.exactlyonce

import java.util.UUID

import scala.concurrent.duration.FiniteDuration

import io.github.pulsarspark.options.{ClientOptions, ExactlyOnceOptions, OnSinkMismatch, WriteOptions}
import io.github.pulsarspark.pulsar.topics.{SinkTopicNames, TopicNames}

/** Settings of a sink that the driver shares with its tasks.
  *
  * @param topic
  *   None when rows name their topics
  * @param nonce
  *   the checkpoint, or kind of batch, that the sink belongs to
  * @param startsAtZero
  *   true if its epochs are counted from 0
  * @param isForever
  *   true if its state is needed after the write
  * @param timeout
  *   of a transaction
  * @param onMismatch
  *   for an epoch of a stream that does not follow the last one
  */
private[write] final case class SinkSettings(
    client: ClientOptions,
    topic: Option[String],
    namespace: String,
    sinkId: String,
    nonce: String,
    startsAtZero: Boolean,
    isForever: Boolean,
    timeout: FiniteDuration,
    onMismatch: OnSinkMismatch = OnSinkMismatch.Fail
) {
  def topics: SinkTopics = SinkTopics(namespace, sinkId)

  /** The topic that all rows go to, or `*` when rows name their topics. */
  def target: String = topic.getOrElse(SinkSettings.ByRow)
}

private[write] object SinkSettings {

  /** Limit of tasks in an epoch: its record names the transaction of each task in one message, compressed. */
  val MaxTasks: Int = 50000

  /** Topic partitions that the same record names, where rows name their topics. */
  private[exactlyonce] val MaxNamed: Int = 2000

  /** The nonce of batches with numbers, which the id of their query follows. */
  private[exactlyonce] val Versions = "versions"

  /** Nonce of batches without numbers, whose state is not needed after them. */
  private val Job = "job"

  /** The start of the nonces of streams, which the id of the query follows. */
  private val Query = "query:"

  /** Settings of a log's writer, as far as the log contains them.
    *
    * @param nonce
    *   of the log
    */
  def ofLog(
      client: ClientOptions,
      namespace: String,
      sinkId: String,
      timeout: FiniteDuration,
      nonce: String,
      log: SinkLog
  )
      : SinkSettings = SinkSettings(
    client,
    Some(log.target).filterNot(t => t.isEmpty || t == ByRow),
    namespace,
    sinkId,
    nonce,
    startsAtZero = nonce.startsWith(Query),
    isForever = nonce != Job,
    timeout
  )

  /** The target when rows name their topics. */
  private val ByRow = "*"

  /** Nonce of the sinks of a stream.
    *
    * @param queryId
    *   of the stream, which its checkpoint holds
    */
  def nonce(queryId: String): String = s"$Query$queryId"

  /** @param queryId
    *   of the stream, which its checkpoint holds
    */
  def ofStream(options: WriteOptions, exactlyOnce: ExactlyOnceOptions, queryId: String): SinkSettings = SinkSettings(
    options.client,
    options.topic.map(TopicNames.full),
    namespace(options, exactlyOnce),
    exactlyOnce.sinkId.getOrElse(queryId),
    nonce(queryId),
    startsAtZero = true,
    isForever = true,
    exactlyOnce.timeout,
    exactlyOnce.onMismatch
  )

  /** @param queryId
    *   of the stream whose `foreachBatch` writes; None elsewhere, and where Spark does not report it
    */
  def ofBatch(options: WriteOptions, exactlyOnce: ExactlyOnceOptions, queryId: Option[String]): SinkSettings = {
    if (exactlyOnce.sinkId.isDefined && exactlyOnce.version.isEmpty)
      ExactlyOnceOptions.refuse("`sinkId` is set for a batch write, but `txnVersion` is not",
        "Set txnVersion, in foreachBatch to the id of the batch, or remove sinkId")
    SinkSettings(
      options.client,
      options.topic.map(TopicNames.full),
      namespace(options, exactlyOnce),
      exactlyOnce.sinkId.getOrElse(UUID.randomUUID.toString),
      if (exactlyOnce.version.isEmpty) Job else queryId.fold(Versions)(id => s"$Versions:$id"),
      startsAtZero = false,
      isForever = exactlyOnce.version.isDefined,
      exactlyOnce.timeout
    )
  }

  /** The namespace of the state: the option, else that of the topic. */
  def namespace(options: WriteOptions, exactlyOnce: ExactlyOnceOptions): String =
    exactlyOnce.namespace.orElse(options.topic.map(TopicNames.namespace)).getOrElse(
      ExactlyOnceOptions.refuse("rows name their topics, so the namespace of the sink's state is not known",
        "Set sinkNamespace")
    )
}

/** The names of the topics with the state of a sink. */
private[write] final case class SinkTopics(log: String, open: String, mark: String)

private[write] object SinkTopics {
  def apply(namespace: String, sinkId: String): SinkTopics = {
    val start = s"persistent://$namespace/${SinkTopicNames.Prefix}$sinkId"
    SinkTopics(start + SinkTopicNames.Log, start + SinkTopicNames.Open, start + SinkTopicNames.Mark)
  }
}
