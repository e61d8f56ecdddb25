package io.github.pulsarspark.checkpoint

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.util.Try
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.topics.TopicNames

/** Refuses policies that delete or change records which a store needs. The admin service knows them: without
  * `admin.url`, or without the right to see policies, nothing is checked.
  */
private[checkpoint] object Preflight {
  private val log = LoggerFactory.getLogger(getClass)

  private val Seconds = 10L

  /** Policies that hold for a topic, and one of namespaces alone. */
  private val OfTopics = Seq("messageTTL", "backlogQuotaMap", "inactiveTopicPolicies", "replication",
    "compactionThreshold", "maxMessageSize")
  private val Expiry = "subscriptionExpirationTime"

  def check(connection: PulsarConnection, topic: String): Unit =
    check(connection, topic, problem => log.warn(problem))

  /** Checks what may have changed since [[check]], which has said already what it does not see. */
  def checkAgain(connection: PulsarConnection, topic: String): Unit =
    check(connection, topic, problem => log.debug(problem))

  private def check(connection: PulsarConnection, topic: String, say: String => Unit): Unit = connection.admin match {
    case None        => say(s"The policies of $topic are not checked: set admin.url for the checkpoint store")
    case Some(admin) =>
      val asked = OfTopics.map(name => name -> admin.find(TopicNames.policy(topic, name))) :+
        Expiry -> admin.find(s"v2/namespaces/${TopicNames.namespace(topic)}/$Expiry")
      val found = asked.flatMap { case (name, answer) => value(topic, name, answer, say).map(name -> _) }
      val bad   = found.flatMap { case (name, policy) => problem(name, policy) }
      if (bad.nonEmpty)
        throw Conditions.CheckpointStorePolicy(topic = topic, policies = bad.mkString(", ")).exception
  }

  private def value(
      topic: String,
      name: String,
      answer: CompletableFuture[Option[JsonNode]],
      say: String => Unit
  ): Option[JsonNode] =
    try answer.get(Seconds, TimeUnit.SECONDS)
    catch {
      case NonFatal(e) =>
        say(s"The policy $name of $topic is not checked: ${e.getMessage}")
        None
    }

  /** The harm that a policy does to a store, in words; None if it does none. Pure. */
  private[checkpoint] def problem(name: String, policy: JsonNode): Option[String] = name match {
    case "messageTTL"      => limit(policy).map(s => s"messageTTL=$s s (deletes what is needed after that time)")
    case Expiry            => limit(policy).map(m => s"$Expiry=$m min (deletes what an idle query needs)")
    case "backlogQuotaMap" =>
      val kinds = Seq("destination_storage", "message_age")
      kinds.find(policy.path(_).path("policy").asText == "consumer_backlog_eviction").map(kind =>
        s"backlogQuota $kind=consumer_backlog_eviction (deletes what is needed above a size or an age)"
      )
    case "inactiveTopicPolicies" =>
      val isDeleted = policy.path("deleteWhileInactive").asBoolean
      val mode      = policy.path("inactiveTopicDeleteMode").asText
      Option.when(isDeleted && mode == "delete_when_subscriptions_caught_up")(
        s"inactiveTopicPolicies=$mode (may delete the topic of an idle query)"
      )
    case "replication" =>
      Option.when(policy.size > 1)(s"replication to ${policy.size} clusters (each would write the one log)")
    case "compactionThreshold" =>
      limit(policy).map(b => s"compactionThreshold=$b bytes (a checkpoint store has no keys to compact by)")
    case "maxMessageSize" =>
      limit(policy).filter(_ < LogWriter.MaxRecord).map(b => s"maxMessageSize=$b bytes (less than a record needs)")
    case _ => None
  }

  private def limit(policy: JsonNode): Option[Long] = Try(policy.asLong).toOption.filter(_ > 0)
}
