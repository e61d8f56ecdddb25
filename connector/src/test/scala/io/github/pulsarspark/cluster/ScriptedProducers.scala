package io.github.pulsarspark.cluster

import java.util.Optional
import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, TimeUnit}
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

import scala.collection.concurrent.TrieMap
import scala.jdk.CollectionConverters._

import io.netty.buffer.{ByteBuf, ByteBufUtil}
import org.apache.pulsar.common.api.proto._
import org.apache.pulsar.common.protocol.schema.SchemaVersion
import org.apache.pulsar.common.protocol.{Commands, PulsarDecoder}
import org.apache.pulsar.common.schema.SchemaInfo

import io.github.pulsarspark.position.Position

/** Producers and transactions of a scripted cluster, and all that they requested, in order.
  *
  * @param store
  *   stores an entry: a topic, its bytes and its number of messages
  */
private[cluster] final class ScriptedWrites(store: (String, Array[Byte], Int, Option[(Long, Long)]) => Position) {

  /** Transactions and whether they are committed; None for an open one. */
  val transactions: TrieMap[(Long, Long), Option[Boolean]] = TrieMap.empty

  /** False in a cluster without transactions. */
  @volatile var hasCoordinator = true

  /** False while clients send transactions' requests to nobody, until one of them connects to a coordinator. */
  @volatile var hearsCoordinatorClients = true

  /** The number of requests for the last message that find no consumer from now on, as while a topic moves. */
  val strangers = new AtomicInteger

  def isStranger(): Boolean = strangers.getAndUpdate(n => math.max(0, n - 1)) > 0

  /** Refuses messages to these topics from now on. */
  @volatile var refused: Set[String] = Set.empty

  /** Acknowledges messages to these topics a while after they are stored, from now on. */
  @volatile var slow: Set[String] = Set.empty

  /** Transactions that other credentials began. */
  @volatile var foreign: Set[(Long, Long)] = Set.empty

  /** Keeps the entries of these topics from consumers, until such a topic changes after it is taken out. */
  @volatile var held: Set[String] = Set.empty

  /** Refuses each producer of these topics from now on, with this error. */
  @volatile var closed: Map[String, ServerError] = Map.empty

  /** Makes topics of these names when a client asks for them, as brokers do whose policy allows that. */
  @volatile var makes: String => Boolean = _ => false

  /** Schemas of topics, in the order of their versions. */
  @volatile var schemas: Map[String, Seq[SchemaInfo]] = Map.empty

  /** Cursors of durable subscriptions, by topic partition and name. */
  val subscriptions: TrieMap[(String, String), Position] = TrieMap.empty

  private val requests = new ConcurrentLinkedQueue[String]
  private val ids      = new AtomicLong

  def log(request: String): Unit = { requests.add(request); () }

  /** Requests since the last call. */
  def take(): Seq[String] = Iterator.continually(requests.poll()).takeWhile(_ != null).toSeq

  def begin(coordinator: Long): (Long, Long) = {
    val id = (coordinator, ids.incrementAndGet())
    transactions(id) = None
    id
  }

  def append(topic: String, entry: ByteBuf, transaction: Option[(Long, Long)]): Position = {
    val messages = Commands.peekMessageMetadata(entry, "", -1).getNumMessagesInBatch
    store(topic, ByteBufUtil.getBytes(entry), messages, transaction)
  }
}

/** A connection of a broker as producers and transactions have it. */
private[cluster] abstract class ScriptedProducers(writes: ScriptedWrites) extends PulsarDecoder {

  private val producers = TrieMap.empty[Long, String]

  protected def send(command: ByteBuf): Unit

  override protected def handleProducer(command: CommandProducer): Unit = {
    val (request, id, topic) = (command.getRequestId, command.getProducerId, command.getTopic)
    writes.log(s"producer ${short(topic)} ${command.getProducerAccessMode}")
    if (writes.closed.contains(topic)) send(Commands.newError(request, writes.closed(topic), "refused"))
    else {
      producers(id) = topic
      val name = if (command.hasProducerName) command.getProducerName else s"producer-$id"
      send(Commands.newProducerSuccess(request, name, -1L, SchemaVersion.Empty, Optional.of(Long.box(1L)), true))
    }
  }

  override protected def handleSend(command: CommandSend, entry: ByteBuf): Unit = {
    val (producer, sequence, highest) =
      (command.getProducerId, command.getSequenceId, command.getHighestSequenceId)
    val topic       = producers(producer)
    val transaction = Option.when(command.hasTxnidMostBits)((command.getTxnidMostBits, command.getTxnidLeastBits))
    writes.log(s"send ${short(topic)}" + (if (transaction.isEmpty) "" else " in transaction"))
    if (writes.refused(topic)) send(Commands.newSendError(producer, sequence, ServerError.NotAllowedError, "refused"))
    else {
      val at             = writes.append(topic, entry, transaction)
      def answer(): Unit =
        send(Commands.newSendReceipt(producer, sequence, math.max(sequence, highest), at.ledgerId, at.entryId))
      if (!writes.slow(topic)) answer()
      else CompletableFuture.delayedExecutor(300, TimeUnit.MILLISECONDS).execute { () =>
        writes.log(s"acknowledge ${short(topic)}")
        answer()
      }
    }
  }

  override protected def handleCloseProducer(command: CommandCloseProducer): Unit = {
    producers.remove(command.getProducerId).foreach(topic => writes.log(s"close ${short(topic)}"))
    send(Commands.newSuccess(command.getRequestId))
  }

  override protected def handleAck(command: CommandAck): Unit =
    if (command.hasRequestId) send(Commands.newAckResponse(command.getRequestId, null, null, command.getConsumerId))

  override protected def handleTcClientConnectRequest(command: CommandTcClientConnectRequest): Unit = {
    writes.hearsCoordinatorClients = true
    send(Commands.serializeWithSize(Commands.newTcClientConnectResponse(command.getRequestId, null, null)))
  }

  override protected def handleNewTxn(command: CommandNewTxn): Unit = if (writes.hearsCoordinatorClients) {
    val (most, least) = writes.begin(command.getTcId)
    writes.log("begin")
    send(Commands.serializeWithSize(Commands.newTxnResponse(command.getRequestId, least, most)))
  }

  override protected def handleAddPartitionToTxn(command: CommandAddPartitionToTxn): Unit = {
    val (request, most, least) = (command.getRequestId, command.getTxnidMostBits, command.getTxnidLeastBits)
    val topics                 = command.getPartitionsList.asScala.toSeq
    if (writes.transactions.get((most, least)).contains(None)) {
      writes.log(s"register ${topics.map(short).mkString(", ")}")
      send(Commands.newAddPartitionToTxnResponse(request, least, most))
    } else
      send(Commands.newAddPartitionToTxnResponse(request, least, most, ServerError.InvalidTxnStatus, "it has ended"))
  }

  override protected def handleEndTxn(command: CommandEndTxn): Unit = if (writes.hearsCoordinatorClients) {
    val (request, most, least) = (command.getRequestId, command.getTxnidMostBits, command.getTxnidLeastBits)
    val isCommit               = command.getTxnAction == TxnAction.COMMIT
    writes.log(if (isCommit) "commit" else "abort")
    val answer = writes.transactions.get((most, least)) match {
      case None                               => Left(ServerError.TransactionNotFound)
      case _ if writes.foreign((most, least)) => Left(ServerError.TransactionNotFound)
      case Some(Some(is)) if is != isCommit   => Left(ServerError.InvalidTxnStatus)
      case _                                  => Right(writes.transactions((most, least)) = Some(isCommit))
    }
    send(Commands.serializeWithSize(answer.fold(
      Commands.newEndTxnResponse(request, least, most, _,
        if (writes.foreign((most, least))) "neither the owner of the transaction nor a super user"
        else "it is not open"),
      _ => Commands.newEndTxnResponse(request, least, most)
    )))
  }

  private def short(topic: String) = topic.stripPrefix("persistent://public/default/")
}
