package io.github.pulsarspark.options

import scala.concurrent.duration._

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.{CheckedOptions, OptionValue, RawOptions, Scope}

/** The options of a metadata table. What a table lacks, it says by the `require` methods; they send no request.
  *
  * @param table
  *   value of the option `metadata`, for errors
  */
private[pulsarspark] final class MetadataOptions private (table: String, options: CheckedOptions) {

  /** The options of a read of the same topics. Fails without `service.url`. */
  lazy val read: ReadOptions = ReadOptions(options)

  /** Options of a read for a diagnosis, whose requests end soon unless `operationTimeoutMs` is set. */
  def quick: ReadOptions =
    if (options.explicit("operationTimeoutMs").isDefined) read
    else read.copy(client = read.client.copy(operationTimeout = MetadataOptions.Quick))

  /** Options of a write whose rights are to be tried; None without `write=true`. */
  def write: Option[WriteOptions] = Option.when(options.boolean("write"))(WriteOptions(options))

  /** Path of the checkpoint of a query. Fails without one. */
  def checkpoint: String = options("checkpoint")

  /** The cluster, if the options name one. */
  def cluster: Option[ClientOptions] = options.explicit("service.url").map(_ => read.client)

  /** Id of a sink. Fails without one. */
  def sinkId: String = options("sinkId")

  /** Namespace of the state of sinks, if the options name it. */
  def sinkNamespace: Option[String] = options.get("sinkNamespace")

  /** Fails unless the options name a cluster and a namespace for the state of sinks, directly or by a topic. */
  def requireSinks(): Unit = {
    requireCluster()
    requireOne("sinkNamespace", "topic")
    ExactlyOnceOptions.checkNames(options.get("sinkId"), sinkNamespace)
  }

  /** Pattern of all topics of the namespace that the options name, or of the default one. Fails if they also select
    * topics.
    */
  def namespacePattern: String = {
    val (tenant, name) = OptionValue.namespace("namespace", options("namespace"))
    if (isSet("namespace")) MetadataOptions.Topics.find(isSet).foreach(selected =>
      throw Conditions.OptionConflict(first = "namespace", second = selected).exception
    )
    s"$tenant/$name/.*"
  }

  /** Fails unless the options name a cluster. */
  def requireCluster(): Unit = read: Unit

  /** True if the option is set. */
  def isSet(key: String): Boolean = options.explicit(key).isDefined

  /** True if the options select topics. */
  def hasTopics: Boolean = MetadataOptions.Topics.exists(isSet)

  /** Fails unless one of these options is set. */
  def requireOne(keys: String*): Unit =
    if (!keys.exists(isSet))
      throw Conditions.OptionIncomplete(present = s"metadata=$table", missing = keys.mkString("` or `")).exception

  /** Fails unless the options name a cluster and topics. */
  def requireTopics(): Unit = {
    requireCluster()
    val present = MetadataOptions.Topics.filter(isSet)
    if (present.size != 1)
      throw Conditions.TopicOption(
        problem = if (present.isEmpty) "none is set" else present.map(k => s"`$k`").mkString(" and ") + " are set"
      ).exception
  }

  /** Fails unless the options name an admin service. */
  def requireAdmin(): Unit =
    if (read.client.adminUrl.isEmpty)
      throw Conditions.OptionIncomplete(present = s"metadata=$table", missing = "admin.url").exception
}

private[pulsarspark] object MetadataOptions {

  private val Quick  = 5.seconds
  private val Topics = Seq("topic", "topics", "topicsPattern")

  /** Checks the options of a table. */
  def apply(table: String, options: RawOptions): MetadataOptions =
    new MetadataOptions(table, options.check(Scope.Metadata))

  /** The metadata table that a read names; None for a read of messages. A session cannot choose one for all its reads.
    */
  def table(options: RawOptions): Option[String] = options.own("metadata")
}
