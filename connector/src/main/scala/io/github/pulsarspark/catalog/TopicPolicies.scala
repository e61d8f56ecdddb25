package io.github.pulsarspark.catalog

import java.util.concurrent.{CompletableFuture, CompletionException}

import org.apache.spark.sql.catalyst.analysis.NoSuchTableException
import org.apache.spark.sql.connector.catalog.Identifier

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.pulsar.admin.{AdminApi, Outcome}
import io.github.pulsarspark.pulsar.connection.{ClusterCalls, RepeatedRequest}

/** Reads and changes the policies that topics have of their own, with the admin service. */
private[catalog] final class TopicPolicies(options: ClientOptions, admin: AdminApi) {
  import TopicPolicies._

  private val calls = new ClusterCalls(options, admin.url)

  /** Properties for the policies of a topic; none where brokers have no such policies. */
  def properties(topic: String): Map[String, String] =
    calls.awaitAll(PolicyProperty.policies)(asking(topic, _))(name =>
      admin.policy(topic, name)
        .thenApply[Map[PolicyProperty, Long]](_.fold(_ => Map.empty, PolicyProperty.read(name, _)))
    ).flatten.map { case (property, value) => property.name -> property.text(value) }.toMap

  /** Changes policies, one after the other: brokers store all those of a topic as one. */
  def change(ident: Identifier, topic: String, changes: PolicyChanges): Unit = changes.policies.foreach { name =>
    def refused(outcome: Outcome) = this.refused(ident, topic, changes.of(name).toString, outcome)
    val present                   = calls.ask(asking(topic, name))(() => admin.policy(topic, name))
      .fold(refused, PolicyProperty.read(name, _))
    val next = changes.changed(name, present)
    if (next != present) {
      val what = s"Changing policy $name of topic $topic"
      calls.await(what)(
        if (next.isEmpty) admin.removePolicy(topic, name)
        else admin.setPolicy(topic, name, PolicyProperty.json(next))
      ) match {
        case Outcome.Done => calls.await(what)(untilShown(topic, name, next)): Unit
        case other        => refused(other)
      }
    }
  }

  /** Waits until brokers show a change. They read their own change from a topic, and make the next one to what they
    * have read, so that a change that followed at once would undo this one.
    */
  private def untilShown(topic: String, name: String, values: Map[PolicyProperty, Long]): CompletableFuture[Unit] =
    RepeatedRequest(options.operationTimeout, RepeatedRequest.Pause, isNotShown)(() =>
      admin.policy(topic, name).thenApply[Unit] { answer =>
        if (!answer.exists(PolicyProperty.read(name, _) == values)) throw new NotShown
      }
    )

  private def refused(ident: Identifier, topic: String, properties: String, outcome: Outcome): Nothing =
    throw outcome match {
      case Outcome.Absent   => new NoSuchTableException(ident)
      case Outcome.Disabled =>
        Conditions.TopicPoliciesDisabled(property = properties, topic = topic, url = admin.url).exception
      case Outcome.Refused(cause) => Conditions.TableProperty(property = properties, topic = topic, why = cause,
          instead = "Use a value that the brokers accept").exception
      case other =>
        Conditions.RequestFailed(what = s"Changing $properties of topic $topic", url = admin.url,
          cause = other.toString).exception
    }
}

private object TopicPolicies {
  private def asking(topic: String, name: String) = s"Requesting policy $name of topic $topic"

  private final class NotShown extends RuntimeException("the brokers do not show the change")

  private val isNotShown: Throwable => Boolean = {
    case e: CompletionException => isNotShown(e.getCause)
    case e                      => e.isInstanceOf[NotShown]
  }
}
