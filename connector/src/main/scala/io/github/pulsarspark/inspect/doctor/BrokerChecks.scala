package io.github.pulsarspark.inspect.doctor

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._
import scala.util.{Try, Using}

import io.github.pulsarspark.errors.{Conditions, Occurrence}
import io.github.pulsarspark.options.registry.NearestName
import io.github.pulsarspark.options.{ClientOptions, ReadOptions, TopicSelection, WriteOptions}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.connection.{ServiceHost, TlsCheck}
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.read.plan.DriverSession
import io.github.pulsarspark.schema.TopicSchema

/** Checks of what brokers answer about topics: that they exist, who serves them, and the rights.
  *
  * @param write
  *   options of a write, where the right to produce is to be tried
  */
private[doctor] final class BrokerChecks(
    connection: () => PulsarConnection,
    options: ReadOptions,
    write: Option[WriteOptions]
) {
  import BrokerChecks._

  private val client = options.client
  private val found  = new CompletableFuture[Map[String, Seq[String]]]

  /** Full names of the topics, each with those of its partitions; empty as long as they are not known. */
  def topics: Map[String, Seq[String]] = found.getNow(Map.empty)

  /** The checks in their order. */
  def all: Seq[Check] = Seq(
    Check(Topic, LoginCheck.Name)(() => topic()),
    Check(Owner, Topic)(() => ofTopics(owners())),
    Check("schema", Topic)(() => ofTopics(schema())),
    Check("consume", Owner)(() => ofTopics(consume())),
    Check("produce", Owner)(() =>
      write.fold[Finding](Finding.Skipped("`write` is not true"))(w => ofTopics(produce(w)))
    ),
    Check("transactions", LoginCheck.Name)(() => transactions())
  )

  private def broker = connection().broker(options.subscriptionPrefix, options.readCompacted)

  private def partitions = topics.values.flatten.toSeq.sorted.take(MaxPartitions)

  private def ofTopics(check: => Finding): Finding = if (topics.isEmpty) Finding.Skipped(NoTopic) else check

  private def topic(): Finding = options.topics match {
    case TopicSelection.Named(Nil)   => Finding.Skipped(NoTopic)
    case TopicSelection.Named(names) =>
      val existing = broker.partitions(names)
      found.complete(existing)
      names.map(TopicNames.full).find(!existing.contains(_)).fold[Finding](Finding.Good(shown(existing)))(missing =>
        Finding.Bad(Conditions.TopicNotFound(topic = missing, url = client.serviceUrl), nearest(missing))
      )
    case TopicSelection.Matching(_) =>
      Using.resource(DriverSession(options))(session => found.complete(session.discovery.topics()))
      Finding.Good(shown(topics))
  }

  /** Hint for a name that no topic has. The list may be refused. */
  private def nearest(missing: String): String = {
    val namespace           = TopicNames.namespace(missing)
    def local(name: String) = name.split('/').last
    Try(broker.matching(s"$namespace/.*").all.map(local)).toOption.flatMap(NearestName(local(missing), _)).fold("")(
      name => s" The nearest name is `$name`."
    )
  }

  private def shown(topics: Map[String, Seq[String]]): String = topics.toSeq match {
    case Seq((one, Seq(only))) if only == one => s"$one, not partitioned"
    case Seq((one, partitions))               => s"$one, ${partitions.size} partitions"
    case several                              => s"${several.size} topics, ${several.map(_._2.size).sum} partitions"
  }

  /** Brokers send a client on to the address that the owner of a partition advertises. */
  private def owners(): Finding = {
    val owners   = partitions.map(p => connection().owner(p) -> p).toMap
    val problems = owners.toSeq.flatMap { case (host, partition) => problem(host, partition) }
    problems.headOption.fold[Finding](Finding.Good(owners.keys.map(_.toString).toSeq.sorted.mkString(", ")))(
      Finding.Bad(_)
    )
  }

  private def problem(owner: ServiceHost, partition: String): Option[Occurrence] =
    if (NetworkChecks.detour(client).isDefined) None
    else
      NetworkChecks.refusal(owner, client.operationTimeout).map(cause =>
        Conditions.AdvertisedAddress(address = owner.toString, topic = partition, cause = cause)
      ).orElse {
        if (!ClientOptions.isEncrypted(client.serviceUrl) || !TlsCheck.isStrict(client)) None
        else TlsCheck.certificate(client, owner).left.toOption.map(
          _.occurrence(s"A connection to the broker of $partition", owner.toString)
        )
      }

  private def schema(): Finding = {
    val columns = Using.resource(DriverSession(options))(_.columns)
    val newest  = broker.schemas(topics.keys.toSeq.sorted).values.toSeq
    val names   = newest.map(s => s"${s.schemaType}${version(s)}").distinct
    val types   = if (names.isEmpty) "none" else names.mkString(", ")
    Finding.Good(s"$types: ${columns.fieldNames.mkString(", ")}")
  }

  private def version(schema: TopicSchema) =
    if (schema.version.isEmpty) "" else s" version ${BigInt(1, schema.version.toArray)}"

  /** Opens a reader of each partition, which has no subscription that stays. */
  private def consume(): Finding = {
    val bounds = broker.bounds(partitions).values
    Finding.Good(s"${bounds.count(b => b.first < b.last)} of ${bounds.size} partitions have messages")
  }

  /** Opens a producer of each topic with the schema that the topic has. */
  private def produce(write: WriteOptions): Finding = {
    val names  = topics.keys.toSeq.sorted.take(MaxProducers)
    val newest = broker.schemas(names)
    names.foreach(t => connection().producer(t, newest.getOrElse(t, TopicSchema.Bytes), write).close())
    Finding.Good("a producer was opened; nothing was sent")
  }

  private def transactions(): Finding =
    if (write.flatMap(_.exactlyOnce).isEmpty) Finding.Skipped("`deliveryGuarantee` is not exactly-once")
    else
      Using.resource(connection().transactions()) { coordinator =>
        val id = coordinator.begin(TransactionTime)
        coordinator.isEnded(id, coordinator.abort(id))
        Finding.Good("a transaction was begun and aborted")
      }
}

private[doctor] object BrokerChecks {
  val Topic = "topic"

  val Owner = "broker of the topic"

  private val NoTopic = "no topic is named"

  /** Numbers of partitions and topics that stand for all others. */
  private val MaxPartitions = 64
  private val MaxProducers  = 8

  private val TransactionTime = 10.seconds
}
