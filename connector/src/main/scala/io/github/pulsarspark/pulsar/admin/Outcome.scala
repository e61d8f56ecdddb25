package io.github.pulsarspark.pulsar.admin

import java.util.concurrent.CompletionException

import scala.annotation.tailrec

import org.apache.pulsar.client.api.PulsarClientException
import org.apache.pulsar.client.impl.AdminHttp

/** Outcome of a request that changes something. */
private[pulsarspark] sealed trait Outcome

private[pulsarspark] object Outcome {
  case object Done   extends Outcome
  case object Absent extends Outcome // the topic, or its namespace
  case object Exists extends Outcome

  /** Brokers have the kind of setting switched off. */
  case object Disabled extends Outcome

  /** A refusal with the reason that the service gives. */
  final case class Refused(reason: String) extends Outcome

  private val Conflict         = 409
  private val MethodNotAllowed = 405

  /** The outcome after a failure; None for a failure that says nothing of the resource. */
  @tailrec
  private[admin] def of(failure: Throwable): Option[Outcome] = failure match {
    case e: CompletionException if e.getCause != null              => of(e.getCause)
    case _: PulsarClientException.NotFoundException                => Some(Absent)
    case e: AdminHttp.Refused if e.status == Conflict              => Some(Exists)
    case e: AdminHttp.Refused if e.status == MethodNotAllowed      => Some(Disabled)
    case e: AdminHttp.Refused if e.status >= 400 && e.status < 500 => Some(Refused(e.getMessage))
    case _                                                         => None
  }
}
