package io.github.pulsarspark.pulsar.connection

import java.net.{SocketException, UnknownHostException}
import java.util.concurrent.{CompletableFuture, CompletionException, ExecutionException, TimeUnit, TimeoutException}

import org.apache.pulsar.client.api.PulsarClientException

import io.github.pulsarspark.common.BoundedParallel
import io.github.pulsarspark.errors.{Conditions, FirstLine, PulsarError}
import io.github.pulsarspark.options.ClientOptions

/** Waits for the cluster's responses, each with the deadline `operationTimeoutMs`, and turns the client's exceptions
  * into named conditions.
  *
  * @param url
  *   the address of the service, for errors
  */
private[pulsarspark] final class ClusterCalls(options: ClientOptions, url: String) {

  /** The client's own retries end at the operation timeout; a little later we end the wait ourselves, should the client
    * fail to.
    */
  private val graceMillis = 5000L
  private val deadline    = options.operationTimeout.toMillis

  /** @param what the sentence's subject in an error, such as "Looking up topic x" */
  def await[A](what: String)(answer: CompletableFuture[A]): A =
    try answer.get(deadline + graceMillis, TimeUnit.MILLISECONDS)
    catch {
      case e: ExecutionException => throw explain(what, e.getCause)
      case e: TimeoutException   => throw untrusted(what, e).getOrElse(unreachable(what, ""))
    }

  /** Like `await`, but sends the request again when its connection is lost, which the client does not do. The request
    * must be safe to repeat.
    */
  def ask[A](what: String)(request: () => CompletableFuture[A]): A = await(what)(repeat(request))

  /** Like `ask`, for a request of a consumer or reader, which is sent again also when the topic moves. */
  def askByConsumer[A](what: String)(request: () => CompletableFuture[A]): A = await(what)(
    RepeatedRequest(options.operationTimeout, RepeatedRequest.Pause, LostConnection.causedOfConsumer)(request)
  )

  /** Sends the request again, within the deadline, when its connection is lost. */
  def repeat[A](request: () => CompletableFuture[A]): CompletableFuture[A] =
    RepeatedRequest(options.operationTimeout, RepeatedRequest.Pause, LostConnection.caused)(request)

  /** Like `await`, for a result that must be closed: `discard` receives one that arrives after the wait failed or was
    * interrupted.
    */
  def awaitOwned[A](what: String)(answer: CompletableFuture[A])(discard: A => Unit): A =
    try await(what)(answer)
    catch {
      case e: Throwable =>
        answer.thenAccept(discard(_))
        throw e
    }

  /** Runs a call of the client that waits by itself. An interruption stays one: the client wraps it into an exception
    * of its own, by which Spark does not know a query that is stopped.
    */
  def blocking[A](what: String)(call: => A): A =
    try call
    catch {
      case e: PulsarClientException => e.getCause match {
          case interruption: InterruptedException =>
            Thread.interrupted(): Unit
            throw interruption
          case _ => throw explain(what, e)
        }
    }

  /** All responses, with at most `atOnce` requests at a time. */
  def awaitAll[A, B](items: Seq[A], atOnce: Int = 256)(what: A => String)(request: A => CompletableFuture[B]): Seq[B] =
    BoundedParallel(items, atOnce)(request)((item, answer) => await(what(item))(answer))

  def explain(what: String, failure: Throwable): Throwable = failure match {
    case e: CompletionException if e.getCause != null => explain(what, e.getCause)
    case e if ClusterCalls.named(e).isDefined         => ClusterCalls.named(e).get
    case e @ (_: PulsarClientException.AuthenticationException | _: PulsarClientException.AuthorizationException) =>
      Conditions.AccessDenied(what = what, url = url, cause = FirstLine(e)).causedBy(e)
    case e if ClusterCalls.isElsewhere(e) =>
      Conditions.NamespaceOfOtherClusters(what = what, url = url, cause = FirstLine(e)).causedBy(e)
    case e => untrusted(what, e).getOrElse(noAnswer(what, e))
  }

  private def noAnswer(what: String, failure: Throwable): Throwable = failure match {
    case e @ (_: PulsarClientException.TimeoutException | _: PulsarClientException.ConnectException |
        _: PulsarClientException.LookupException | _: TimeoutException) =>
      unreachable(what, s" (${FirstLine(e)})")
    case e if ClusterCalls.noConnection(e).isDefined =>
      unreachable(what, s" (${FirstLine(ClusterCalls.noConnection(e).get)})")
    case e => Conditions.RequestFailed(what = what, url = url, cause = FirstLine(e)).causedBy(e)
  }

  private def untrusted(what: String, failure: Throwable): Option[Throwable] =
    TlsCheck.problem(options, url).map(_.occurrence(what, url).causedBy(failure))

  private def unreachable(what: String, cause: String) =
    Conditions.Unreachable(what = what, url = url, waited = deadline.toString, cause = cause).exception
}

private object ClusterCalls {

  /** The client wraps also what stops it from connecting, such as a host that the policy of a server does not list. */
  private def named(failure: Throwable): Option[Throwable] =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).collectFirst { case e: Throwable with PulsarError => e }

  /** True if brokers refuse a request because the namespace is not in their cluster. Its clusters follow. */
  private def isElsewhere(failure: Throwable): Boolean = failure.isInstanceOf[PulsarClientException] &&
    Option(failure.getMessage).exists(_.contains("Namespace missing local cluster name"))

  /** The client wraps a refused connection and an unknown host into whatever it was doing. */
  private def noConnection(failure: Throwable): Option[Throwable] =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).find {
      case _: SocketException | _: UnknownHostException => true
      case _                                            => false
    }
}
