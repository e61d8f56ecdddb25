package io.github.pulsarspark.cluster

import java.nio.ByteBuffer

import scala.collection.concurrent.TrieMap
import scala.jdk.CollectionConverters._

import io.netty.buffer.{ByteBuf, Unpooled}
import io.netty.channel.ChannelHandlerContext
import org.apache.pulsar.common.api.proto._
import org.apache.pulsar.common.naming.{SystemTopicNames, TopicName}
import org.apache.pulsar.common.protocol.Commands
import org.apache.pulsar.common.protocol.schema.BytesSchemaVersion

import io.github.pulsarspark.position.Position

/** A connection of a broker that has some topic partitions and answers consumers, by the rules of a real one: it counts
  * permits in messages, dispatches neither markers nor messages of aborted transactions, and moves a cursor over those
  * only in front of the first entry that it sends.
  *
  * @param topics
  *   by their full names
  * @param advertised
  *   address of the owner of every topic
  * @param open
  *   all connections of the cluster
  * @param writes
  *   of all of them
  * @param make
  *   makes a topic
  */
private[cluster] final class ScriptedBroker(
    topics: collection.Map[String, StoredTopic],
    advertised: => String,
    open: java.util.Set[ScriptedBroker],
    writes: ScriptedWrites,
    make: String => Unit
) extends ScriptedProducers(writes) {
  import ScriptedBroker._

  private val consumers                      = TrieMap.empty[Long, Cursor]
  private var context: ChannelHandlerContext = _

  def consumerCount: Int = consumers.size

  override def channelActive(ctx: ChannelHandlerContext): Unit = {
    context = ctx
    open.add(this)
    super.channelActive(ctx)
  }

  override def channelInactive(ctx: ChannelHandlerContext): Unit = {
    open.remove(this)
    super.channelInactive(ctx)
  }

  /** A topic partition has other entries. */
  def changed(topic: String): Unit = context.executor.execute { () =>
    consumers.filter(_._2.name == topic).foreach { case (id, cursor) => dispatch(id, cursor, 0) }
  }

  /** A topic partition is deleted, whether or not there is another one of its name by now. */
  def deleted(topic: String): Unit = context.executor.execute { () =>
    consumers.filter(_._2.name == topic).keys.foreach { id =>
      consumers.remove(id)
      send(Commands.newCloseConsumer(id, -1, null, null))
    }
  }

  override protected def messageReceived(command: BaseCommand): Unit = ()

  override protected def handleConnect(command: CommandConnect): Unit =
    send(Commands.newConnected(command.getProtocolVersion, false))

  override protected def handlePing(command: CommandPing): Unit = send(Commands.newPong())

  override protected def handleLookup(command: CommandLookupTopic): Unit = send(
    Commands.newLookupResponse(advertised, null, true, CommandLookupTopicResponse.LookupType.Connect,
      command.getRequestId, false)
  )

  /** A topic has the partitions up to the last one that is there. */
  override protected def handlePartitionMetadataRequest(command: CommandPartitionedTopicMetadata): Unit = {
    val (request, topic) = (command.getRequestId, command.getTopic)
    if (!topics.contains(topic) && writes.makes(topic)) make(topic)
    val partitions = topics.keys.map(TopicName.get).filter(n => n.isPartitioned && n.getPartitionedTopicName == topic)
    send(
      if (topic == SystemTopicNames.TRANSACTION_COORDINATOR_ASSIGN.toString && writes.hasCoordinator)
        Commands.newPartitionMetadataResponse(1, request)
      else if (topics.contains(topic)) Commands.newPartitionMetadataResponse(0, request)
      else if (partitions.nonEmpty)
        Commands.newPartitionMetadataResponse(partitions.map(_.getPartitionIndex).max + 1, request)
      else Commands.newPartitionMetadataResponse(ServerError.TopicNotFound, s"no topic $topic", request)
    )
  }

  /** Lists topics and partitions by their names. */
  override protected def handleGetTopicsOfNamespace(command: CommandGetTopicsOfNamespace): Unit = {
    val names = topics.keys.filter(_.startsWith(s"persistent://${command.getNamespace}/")).toSeq.sorted
    send(Commands.serializeWithSize(
      Commands.newGetTopicsOfNamespaceResponseCommand(names.asJava, null, false, true, command.getRequestId)
    ))
  }

  /** The versions of a schema count from 0. */
  override protected def handleGetSchema(command: CommandGetSchema): Unit = {
    val (request, known) = (command.getRequestId, writes.schemas.getOrElse(command.getTopic, Nil))
    val version          =
      if (command.hasSchemaVersion) ByteBuffer.wrap(command.getSchemaVersion).getLong else known.size - 1L
    known.lift(version.toInt).fold(
      send(Commands.newGetSchemaResponseError(request, ServerError.TopicNotFound, "no schema"))
    ) { schema =>
      val bytes = ByteBuffer.allocate(java.lang.Long.BYTES).putLong(version).array
      send(Commands.newGetSchemaResponse(request, schema, BytesSchemaVersion.of(bytes)))
    }
  }

  override protected def handleSubscribe(command: CommandSubscribe): Unit = {
    val (request, id, name) = (command.getRequestId, command.getConsumerId, command.getTopic)
    val start               = Option.when(command.hasStartMessageId)(command.getStartMessageId)
    topics.get(name) match {
      case None        => send(Commands.newError(request, ServerError.TopicNotFound, s"no topic $name"))
      case Some(topic) =>
        if (start.isEmpty) writes.log(s"subscribe ${TopicName.get(name).getLocalName}")
        val key = (name, command.getSubscription)
        if (!command.isDurable && writes.subscriptions.contains(key))
          send(Commands.newError(request, ServerError.NotAllowedError,
            "Durable subscription with the same name already exists."))
        else {
          val durable = Option.when(command.isDurable)(key)
          val mark    = durable.flatMap(writes.subscriptions.get)
          val next    =
            mark.fold(start.fold(begin(topic, command))(s => first(topic, s.getLedgerId, s.getEntryId)))(
              topic.indexAfter
            )
          consumers(id) = new Cursor(name, topics, next, durable)
          durable.filter(_ => mark.isEmpty).foreach(writes.subscriptions(_) = topic.cursorBefore(next))
          send(Commands.newSuccess(request))
        }
    }
  }

  /** Index of the first entry of a new subscription. */
  private def begin(topic: StoredTopic, command: CommandSubscribe) =
    if (command.getInitialPosition == CommandSubscribe.InitialPosition.Earliest) 0 else topic.entries.size

  override protected def handleSeek(command: CommandSeek): Unit = {
    val (request, time, cursor) =
      (command.getRequestId, command.getMessagePublishTime, consumers(command.getConsumerId))
    val found = cursor.topic.entries.indexWhere(_.publishTime >= time)
    cursor.moveTo(if (found < 0) cursor.topic.entries.size else found)
    send(Commands.newSuccess(request))
  }

  override protected def handleGetLastMessageId(command: CommandGetLastMessageId): Unit = {
    val request = command.getRequestId
    send(consumers.get(command.getConsumerId).filter(c => topics.contains(c.name) && !writes.isStranger()).fold(
      Commands.newError(request, ServerError.MetadataError, "Consumer not found")
    ) { cursor =>
      val (last, mark) = (cursor.topic.named.getOrElse(cursor.topic.lastMessage), cursor.markDelete)
      Commands.newGetLastMessageIdResponse(request, last.ledgerId, last.entryId, -1, -1, mark.ledgerId, mark.entryId)
    })
  }

  override protected def handleFlow(command: CommandFlow): Unit =
    consumers.get(command.getConsumerId).foreach(dispatch(command.getConsumerId, _, command.getMessagePermits))

  private def dispatch(id: Long, cursor: Cursor, permits: Int): Unit = {
    cursor.dispatch(permits, isHeld = writes.held(cursor.name)) { entry =>
      val bytes = Unpooled.wrappedBuffer(entry.bytes)
      if (!cursor.topic.showsBrokerMetadata) Commands.skipBrokerEntryMetadataIfExist(bytes)
      context.write(Commands.newMessage(id, entry.at.ledgerId, entry.at.entryId, -1, 0, bytes, null))
    }
    context.flush()
    ()
  }

  /** Moves the cursor of a durable subscription; others have none that stays. */
  override protected def handleAck(command: CommandAck): Unit = {
    for (cursor <- consumers.get(command.getConsumerId); key <- cursor.subscription) {
      val id = command.getMessageIdAt(command.getMessageIdsCount - 1)
      val at = Position(id.getLedgerId, id.getEntryId)
      writes.subscriptions(key) = at
      cursor.acknowledged(at)
    }
    super.handleAck(command)
  }

  override protected def handleUnsubscribe(command: CommandUnsubscribe): Unit = {
    consumers.remove(command.getConsumerId).flatMap(_.subscription).foreach(writes.subscriptions.remove)
    send(Commands.newSuccess(command.getRequestId))
  }

  override protected def handleCloseConsumer(command: CommandCloseConsumer): Unit = {
    consumers.remove(command.getConsumerId)
    send(Commands.newSuccess(command.getRequestId))
  }

  override protected def send(command: ByteBuf): Unit = { context.writeAndFlush(command); () }
}

private object ScriptedBroker {

  /** Index of the first entry that a consumer may get who starts at this message, which it gets too. */
  private def first(topic: StoredTopic, ledgerId: Long, entryId: Long): Int =
    if (ledgerId == -1L) 0
    else topic.indexAfter(Position(ledgerId, if (entryId >= 0 && ledgerId != Long.MaxValue) entryId - 1 else entryId))

  /** A cursor. It goes on in what its topic has by then.
    *
    * @param subscription
    *   the durable subscription, with its topic, whose acknowledgements move the cursor
    */
  private final class Cursor(
      val name: String,
      topics: collection.Map[String, StoredTopic],
      start: Int,
      val subscription: Option[(String, String)]
  ) {
    private var known   = topics(name)
    private var passed  = before(start)
    private var mark    = topic.cursorBefore(start)
    private var isFresh = true
    private var permits = 0

    /** The topic as it is now, or as it was before it was deleted. */
    def topic: StoredTopic = {
      known = topics.getOrElse(name, known)
      known
    }

    def markDelete: Position = mark

    def acknowledged(at: Position): Unit = mark = at

    def moveTo(index: Int): Unit = {
      passed = before(index)
      mark = topic.cursorBefore(index)
      isFresh = true
    }

    private def before(index: Int) = if (index == 0) Position(-1, -1) else topic.entries(index - 1).at

    def dispatch(more: Int, isHeld: Boolean)(send: TopicEntry => Any): Unit = {
      permits += more
      val left = topic.entries.iterator.drop(topic.indexAfter(passed))
      while (!isHeld && permits > 0 && left.hasNext) {
        val entry = left.next()
        passed = entry.at
        if (topic.isDispatched(entry)) {
          send(entry)
          permits -= math.max(1, entry.messages)
          isFresh = false
        } else if (isFresh) mark = entry.at
      }
    }
  }
}
