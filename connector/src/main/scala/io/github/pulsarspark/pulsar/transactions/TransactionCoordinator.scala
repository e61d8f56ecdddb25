package io.github.pulsarspark.pulsar.transactions

import java.util.concurrent.atomic.{AtomicBoolean, AtomicReference}
import java.util.concurrent.{CompletableFuture, CompletionException, ExecutionException, TimeUnit, TimeoutException}

import scala.annotation.tailrec
import scala.concurrent.duration.FiniteDuration
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.pulsar.client.api.PulsarClientException
import org.apache.pulsar.client.api.transaction.TransactionCoordinatorClientException
import org.apache.pulsar.client.impl.transaction.TransactionCoordinatorClientImpl
import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.{SharedLease, SharedPool}
import io.github.pulsarspark.errors.{Conditions, FirstLine, PulsarError}
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.pulsar.connection.{ClientLease, ClientPool, ClusterCalls}

/** Begins and ends transactions by their ids. The client's own transactions live in one process, keep a timer until
  * they time out, and refuse what they believe is over.
  */
private[pulsarspark] final class TransactionCoordinator private (
    first: SharedLease[TransactionCoordinator.Open],
    options: ClientOptions
) extends AutoCloseable {

  import TransactionCoordinator._

  private val calls    = new ClusterCalls(options, options.serviceUrl)
  private val shared   = new AtomicReference(first)
  private val isClosed = new AtomicBoolean

  /** Sends a request by the shared client, or by a new one after a request of it got no response. */
  private def request[A](send: TransactionCoordinatorClientImpl => CompletableFuture[A]): CompletableFuture[A] = {
    if (shared.get.value.isSilent) renew()
    val used = shared.get.value
    ifSilent(send(used.client))(used.isSilent = true)
  }

  /** Keeps the client where no coordinator can be reached. */
  private def renew(): Unit = synchronized {
    if (shared.get.value.isSilent && !isClosed.get)
      try shared.getAndSet(pool.acquire(options)).close()
      catch { case NonFatal(e) => log.warn("no new client of the transaction coordinator: {}", e.toString) }
  }

  /** Fails with `PULSAR_TRANSACTIONS_UNAVAILABLE` where brokers or rights do not allow it. */
  def begin(timeout: FiniteDuration): TransactionId =
    try {
      val id = calls.await("Beginning a transaction")(
        request(_.newTransactionAsync(timeout.toMillis, TimeUnit.MILLISECONDS)).exceptionally(e =>
          throw TransactionCoordinator.explained(e, options.serviceUrl)
        )
      )
      TransactionId(id.getMostSigBits, id.getLeastSigBits)
    } catch {
      case e if Conditions.AccessDenied.is(e) => throw TransactionCoordinator.unavailable(e, options.serviceUrl)
    }

  /** Begins a transaction at each of these coordinators, as far as they exist: the client takes them round-robin. */
  def beginAtEach(coordinators: Set[Long], timeout: FiniteDuration): Seq[TransactionId] = {
    @tailrec
    def more(begun: Vector[TransactionId]): Vector[TransactionId] =
      if (begun.size == MaxCoordinators || coordinators.subsetOf(begun.map(_.coordinator).toSet)) begun
      else more(begun :+ begin(timeout))

    val begun  = more(Vector.empty)
    val wanted = begun.filter(id => coordinators(id.coordinator)).distinctBy(_.coordinator)
    begun.diff(wanted).map(id => id -> abort(id)).foreach { case (id, aborting) => isEnded(id, aborting) }
    wanted
  }

  /** Adds topic partitions to a transaction, before its first message there. */
  def register(id: TransactionId, topicPartitions: Seq[String]): Unit = {
    calls.await(s"Adding ${topicPartitions.mkString(", ")} to transaction $id")(registering(id, topicPartitions))
    ()
  }

  /** The request of [[register]], which fails for a transaction that is not open. */
  def registering(id: TransactionId, topicPartitions: Seq[String]): CompletableFuture[Void] =
    request(_.addPublishPartitionToTxnAsync(id.toPulsar, topicPartitions.asJava))

  /** Waits for the response to [[registering]]; returns the reason of a refusal. */
  def refusal(registering: CompletableFuture[Void]): Option[String] = Option(failure(registering)).map(FirstLine(_))

  /** Waits for the response to [[registering]]; returns whether it proves that the transaction is not open. */
  def isOver(registering: CompletableFuture[Void]): Boolean = {
    val refused = failure(registering)
    isEndOf(refused) && !CommitAnswer(refused).isInstanceOf[CommitAnswer.NotOwner]
  }

  /** Waits for an answer to [[registering]]; returns whether the end of the transaction is decided and not carried out
    * everywhere: a coordinator knows one that is open or has ended by other answers.
    */
  def isEnding(registering: CompletableFuture[Void]): Boolean =
    failure(registering).isInstanceOf[TransactionCoordinatorClientException.InvalidTxnStatusException]

  def commit(id: TransactionId): CompletableFuture[Void] = request(_.commitAsync(id.toPulsar))

  def abort(id: TransactionId): CompletableFuture[Void] = request(_.abortAsync(id.toPulsar))

  /** Waits for the response to [[commit]]. */
  def answer(committing: CompletableFuture[Void]): CommitAnswer =
    CommitAnswer(failure(committing))

  /** Waits for the response to [[abort]]. A transaction that ended before is no failure. One that these credentials
    * must not end is: brokers report it as not found, but it is open and hides what follows it.
    */
  def isEnded(id: TransactionId, aborting: CompletableFuture[Void]): Boolean = failure(aborting) match {
    case null => true
    case e    =>
      CommitAnswer(e) match {
        case CommitAnswer.NotOwner(cause) =>
          throw Conditions.TransactionNotOwned(transaction = id.toString, cause = cause).exception
        case _ => isEndOf(e)
      }
  }

  private def isEndOf(failure: Throwable): Boolean =
    failure.isInstanceOf[TransactionCoordinatorClientException.TransactionNotFoundException] ||
      failure.isInstanceOf[TransactionCoordinatorClientException.InvalidTxnStatusException]

  private def failure(ending: CompletableFuture[Void]): Throwable =
    try {
      ending.get(options.operationTimeout.toMillis, TimeUnit.MILLISECONDS)
      null
    } catch {
      case e: ExecutionException => TransactionCoordinatorClientException.unwrap(e.getCause)
      case e: TimeoutException   =>
        shared.get.value.isSilent = true
        e
    }

  override def close(): Unit = synchronized {
    isClosed.set(true)
    shared.get.close()
  }
}

private[pulsarspark] object TransactionCoordinator {

  /** Four times Pulsar's default. */
  private val MaxCoordinators = 64

  private val log = LoggerFactory.getLogger(classOf[TransactionCoordinator])

  private final class Open(lease: ClientLease, val client: TransactionCoordinatorClientImpl) {

    /** True after a request that got no response. The client may then send all requests to a coordinator over a
      * connection that is closed, for ever: where a connection ends right after it was made,
      * `TransactionMetaStoreHandler` takes it for open (Pulsar 4.2.4).
      */
    @volatile var isSilent = false

    def close(): Unit =
      try client.close()
      finally lease.close()
  }

  private val pool = new SharedPool[ClientOptions, Open](
    "transaction coordinator",
    open,
    _.close(),
    _.operationTimeout * 2,
    options =>
      Conditions.TransactionsUnavailable(url = options.serviceUrl, cause = "the coordinator does not answer").exception,
    isUsable = !_.isSilent
  )

  /** Acts on a missing response before those who wait for it go on: they may ask for the client again. */
  private[transactions] def ifSilent[A](response: CompletableFuture[A])(act: => Unit): CompletableFuture[A] =
    response.whenComplete((_, e) => if (isSilence(e)) act)

  private def isSilence(failure: Throwable): Boolean = failure match {
    case e: CompletionException                    => isSilence(e.getCause)
    case _: PulsarClientException.TimeoutException => true
    case _                                         => false
  }

  def acquire(options: ClientOptions): TransactionCoordinator =
    new TransactionCoordinator(pool.acquire(options), options)

  private def open(options: ClientOptions): Open = {
    val lease  = ClientPool.acquire(options)
    val client = new TransactionCoordinatorClientImpl(lease.client)
    try {
      client.start()
      new Open(lease, client)
    } catch {
      case NonFatal(e) =>
        try client.close() // some of its connections may be there
        catch { case NonFatal(also) => e.addSuppressed(also) }
        finally lease.close()
        throw explained(e, options.serviceUrl)
    }
  }

  private def explained(e: Throwable, url: String): Throwable = e match {
    case c: CompletionException if c.getCause != null => explained(c.getCause, url)
    case p: Throwable with PulsarError                => p
    case _: TransactionCoordinatorClientException | _: PulsarClientException.AuthorizationException |
        _: PulsarClientException.NotFoundException | _: PulsarClientException.NotSupportedException =>
      unavailable(e, url)
    case other => other
  }

  private def unavailable(e: Throwable, url: String): Throwable =
    Conditions.TransactionsUnavailable(url = url, cause = FirstLine(e)).causedBy(e)
}
