package io.github.pulsarspark.inspect.doctor

import com.fasterxml.jackson.databind.JsonNode

import io.github.pulsarspark.errors.{Conditions, Occurrence, PulsarError}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.admin.AdminApi
import io.github.pulsarspark.pulsar.connection.{ClusterCalls, PortProtocol}
import io.github.pulsarspark.pulsar.topics.TopicNames

/** Checks of the admin service, and of the policies that it reports.
  *
  * @param topics
  *   full names of the topics, each with those of its partitions, as far as they are known
  */
private[doctor] final class AdminChecks(
    connection: () => PulsarConnection,
    options: ReadOptions,
    topics: () => Map[String, Seq[String]]
) {
  import AdminChecks._

  private val client = options.client

  /** The checks in their order. */
  def all: Seq[Check] = Check(Name)(() => ofAdmin(service)) +:
    Policy.all.map(p => Check(p.name, Name)(() => ofAdmin(policy(p, _))))

  private def ofAdmin(check: AdminApi => Finding): Finding =
    if (client.adminUrl.isEmpty) Finding.Skipped("`admin.url` is not set: all messages come from brokers")
    else connection().admin.fold[Finding](Finding.Skipped("there is none"))(check)

  private def service(admin: AdminApi): Finding =
    try
      topics().values.flatten.minOption match {
        case None            => Finding.Good(ask(admin, "v2/clusters").fold("")(_ => admin.url))
        case Some(partition) =>
          val knows = calls(admin).await(s"Requesting the ledgers of $partition")(admin.knows(partition))
          if (knows) Finding.Good(admin.url)
          else
            Finding.Bad(Conditions.AdminOtherCluster(url = admin.url, topic = partition, brokers = client.serviceUrl))
      }
    catch { case e: PulsarError => Finding.Bad(explained(e, admin.url)) }

  private def calls(admin: AdminApi) = new ClusterCalls(client, admin.url)

  private def ask(admin: AdminApi, resource: String): Option[JsonNode] =
    calls(admin).await(s"Requesting $resource")(admin.find(resource))

  /** Brokers close a connection that speaks HTTP to their binary port. */
  private def explained(error: Throwable with PulsarError, url: String): Occurrence = {
    val isLost = Conditions.Unreachable.is(error) || Conditions.RequestFailed.is(error)
    val other  =
      if (!isLost || !url.startsWith("http:")) None
      else
        WrongPort.of("admin.url", url) {
          case (PortProtocol.Tls, host) => ("speaks TLS", s"`https://$host`")
          case (PortProtocol.Other, _)  =>
            ("does not speak HTTP", "the web port of the brokers, as a rule http://host:8080")
        }
    other.getOrElse(Occurrence.of(error))
  }

  /** A role that may read a topic need not see its policies. */
  private def policy(policy: Policy, admin: AdminApi): Finding = topics().keys.toSeq.sorted.take(MaxTopics) match {
    case Nil   => Finding.Skipped("no topic is named")
    case names =>
      try {
        val found = names.map(t =>
          policy.finding(t, name => ask(admin, TopicNames.policy(t, name)), options.progressSubscription)
        )
        found.find(_.problem.isDefined).getOrElse(found.head)
      } catch {
        case e: PulsarError if Conditions.AccessDenied.is(e) =>
          Finding.Skipped("only administrators of the tenant see it")
      }
  }
}

private[doctor] object AdminChecks {
  val Name = "admin service"

  /** Number of topics that stand for all others. */
  private val MaxTopics = 8
}
