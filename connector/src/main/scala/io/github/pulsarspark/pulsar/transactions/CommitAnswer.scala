package io.github.pulsarspark.pulsar.transactions

import java.util.concurrent.{CompletionException, ExecutionException}

import scala.annotation.tailrec

import io.github.pulsarspark.errors.FirstLine

/** Outcome of a commit, as far as its response proves it. */
private[pulsarspark] sealed trait CommitAnswer

private[pulsarspark] object CommitAnswer {

  /** The transaction is committed. */
  case object Committed extends CommitAnswer

  /** The transaction may be committed, aborted or open. The coordinator forgets a transaction that ended, so a lost
    * response and an expired transaction look the same.
    */
  final case class Uncertain(cause: String) extends CommitAnswer

  /** The transaction is open, and these credentials must not end it. */
  final case class NotOwner(cause: String) extends CommitAnswer

  /** Classifies a response. Only success proves a commit, so every failure but that of the credentials is uncertain.
    *
    * @param failure
    *   null for success
    */
  @tailrec
  def apply(failure: Throwable): CommitAnswer = failure match {
    case null                                                                                 => Committed
    case e @ (_: CompletionException | _: ExecutionException) if e.getCause != null           => apply(e.getCause)
    case e if Option(e.getMessage).exists(_.contains("neither the owner of the transaction")) => NotOwner(FirstLine(e))
    case e                                                                                    => Uncertain(FirstLine(e))
  }
}
