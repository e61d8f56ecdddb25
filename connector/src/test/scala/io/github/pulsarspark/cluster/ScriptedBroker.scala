package io.github.pulsarspark.cluster

import scala.collection.mutable

import io.netty.buffer.{ByteBuf, Unpooled}
import io.netty.channel.ChannelHandlerContext
import org.apache.pulsar.common.api.proto._
import org.apache.pulsar.common.protocol.{Commands, PulsarDecoder}

import io.github.pulsarspark.position.Position

/** A connection of a broker that has some topic partitions and answers consumers that acknowledge nothing, by the rules
  * of a real one: it counts permits in messages, dispatches neither markers nor messages of aborted transactions, and
  * moves a cursor over those only in front of the first entry that it sends.
  *
  * @param topics
  *   by their full names
  * @param serviceUrl
  *   of this broker, which has every topic
  */
private[cluster] final class ScriptedBroker(topics: String => Option[StoredTopic], serviceUrl: => String)
    extends PulsarDecoder {
  import ScriptedBroker._

  private val consumers                      = mutable.Map.empty[Long, Cursor]
  private var context: ChannelHandlerContext = _

  override def channelActive(ctx: ChannelHandlerContext): Unit = {
    context = ctx
    super.channelActive(ctx)
  }

  override protected def messageReceived(command: BaseCommand): Unit = ()

  override protected def handleConnect(command: CommandConnect): Unit =
    send(Commands.newConnected(command.getProtocolVersion, false))

  override protected def handlePing(command: CommandPing): Unit = send(Commands.newPong())

  override protected def handleLookup(command: CommandLookupTopic): Unit = send(
    Commands.newLookupResponse(serviceUrl, null, true, CommandLookupTopicResponse.LookupType.Connect,
      command.getRequestId, false)
  )

  override protected def handleSubscribe(command: CommandSubscribe): Unit = {
    val (request, id, start) = (command.getRequestId, command.getConsumerId, command.getStartMessageId)
    topics(command.getTopic) match {
      case None        => send(Commands.newError(request, ServerError.TopicNotFound, s"no topic ${command.getTopic}"))
      case Some(topic) =>
        consumers(id) = new Cursor(topic, first(topic, start.getLedgerId, start.getEntryId))
        send(Commands.newSuccess(request))
    }
  }

  override protected def handleSeek(command: CommandSeek): Unit = {
    val (request, time, cursor) =
      (command.getRequestId, command.getMessagePublishTime, consumers(command.getConsumerId))
    val found = cursor.topic.entries.indexWhere(_.publishTime >= time)
    cursor.moveTo(if (found < 0) cursor.topic.entries.size else found)
    send(Commands.newSuccess(request))
  }

  override protected def handleGetLastMessageId(command: CommandGetLastMessageId): Unit = {
    val request = command.getRequestId
    send(consumers.get(command.getConsumerId).fold(
      Commands.newError(request, ServerError.MetadataError, "Consumer not found")
    ) { cursor =>
      val (last, mark) = (cursor.topic.lastMessage, cursor.markDelete)
      Commands.newGetLastMessageIdResponse(request, last.ledgerId, last.entryId, -1, -1, mark.ledgerId, mark.entryId)
    })
  }

  override protected def handleFlow(command: CommandFlow): Unit = {
    val id = command.getConsumerId
    consumers.get(id).foreach(cursor =>
      cursor.dispatch(command.getMessagePermits) { entry =>
        val bytes = Unpooled.wrappedBuffer(entry.bytes)
        if (!cursor.topic.showsBrokerMetadata) Commands.skipBrokerEntryMetadataIfExist(bytes)
        context.write(Commands.newMessage(id, entry.at.ledgerId, entry.at.entryId, -1, 0, bytes, null))
      }
    )
    context.flush()
    ()
  }

  override protected def handleCloseConsumer(command: CommandCloseConsumer): Unit = {
    consumers.remove(command.getConsumerId)
    send(Commands.newSuccess(command.getRequestId))
  }

  private def send(command: ByteBuf): Unit = { context.writeAndFlush(command); () }
}

private object ScriptedBroker {

  /** Index of the first entry that a consumer may get who starts at this message, which it gets too. */
  private def first(topic: StoredTopic, ledgerId: Long, entryId: Long): Int =
    if (ledgerId == -1L) 0
    else topic.indexAfter(Position(ledgerId, if (entryId >= 0 && ledgerId != Long.MaxValue) entryId - 1 else entryId))

  /** A cursor that nobody acknowledges to. */
  private final class Cursor(val topic: StoredTopic, start: Int) {
    private var next    = start
    private var mark    = topic.cursorBefore(start)
    private var isFresh = true
    private var permits = 0

    def markDelete: Position = mark

    def moveTo(index: Int): Unit = {
      next = index
      mark = topic.cursorBefore(index)
      isFresh = true
    }

    def dispatch(more: Int)(send: TopicEntry => Any): Unit = {
      permits += more
      while (permits > 0 && next < topic.entries.size) {
        val entry = topic.entries(next)
        next += 1
        if (topic.isDispatched(entry)) {
          send(entry)
          permits -= math.max(1, entry.messages)
          isFresh = false
        } else if (isFresh) mark = entry.at
      }
    }
  }
}
