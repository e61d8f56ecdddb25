package io.github.pulsarspark.cluster

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

import io.netty.buffer.Unpooled
import io.netty.channel.{ChannelHandlerContext, SimpleChannelInboundHandler}
import io.netty.handler.codec.http._
import org.apache.pulsar.common.naming.TopicName

import io.github.pulsarspark.position.Position

/** A connection of an admin service that reports the ledgers and transactions of topic partitions.
  *
  * @param bookie
  *   the one that has all ledgers
  * @param requested
  *   receives the path of each request
  * @param change
  *   makes a change by its method, the path without `admin/v2/persistent`, and its body; the status of the response
  */
private[cluster] final class ScriptedAdmin(
    topics: String => Option[StoredTopic],
    bookie: => String,
    requested: String => Unit,
    change: (String, List[String], String) => Int
) extends SimpleChannelInboundHandler[FullHttpRequest] {
  import ScriptedAdmin._

  override def channelRead0(ctx: ChannelHandlerContext, request: FullHttpRequest): Unit = {
    requested(request.uri)
    val path   = request.uri.takeWhile(_ != '?').split('/').toList.filter(_.nonEmpty)
    val isRead = request.method == HttpMethod.GET
    val answer = if (isRead) answerTo(path) else None
    val body   = Unpooled.copiedBuffer(answer.getOrElse(if (isRead) "{}" else ""), UTF_8)
    val status =
      if (!isRead)
        HttpResponseStatus.valueOf(change(request.method.name, path.drop(3), request.content.toString(UTF_8)))
      else if (answer.isEmpty) HttpResponseStatus.NOT_FOUND
      else HttpResponseStatus.OK
    val response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, body)
    response.headers.set(HttpHeaderNames.CONTENT_TYPE, "application/json")
    response.headers.setInt(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes)
    ctx.writeAndFlush(response)
    ()
  }

  private def answerTo(path: List[String]): Option[String] = path match {
    case List("admin", "v2", "persistent", tenant, space, topic, "internalStats") =>
      find(tenant, space, topic).map(stats(_, bookie))
    case List("admin", "v2", "persistent", tenant, space, topic, "internal-info") =>
      find(tenant, space, topic).map(info)
    case List("admin", "v3", "transactions", "transactionBufferStats", tenant, space, topic) =>
      find(tenant, space, topic).map(transactions)
    case List("admin", "v3", "transactions", "transactionInBufferStats", tenant, space, topic, most, least) =>
      find(tenant, space, topic).map(t => s"""{"aborted": ${t.aborted((most.toLong, least.toLong))}}""")
    case _ => None
  }

  private def find(tenant: String, space: String, topic: String) = topics(s"persistent://$tenant/$space/$topic")
}

private object ScriptedAdmin {

  private def stats(topic: StoredTopic, bookie: String): String = {
    val owner   = TopicName.get(topic.name).getPersistenceNamingEncoding
    val newest  = topic.ledgers.last
    val ledgers = topic.ledgers.map { ledger =>
      val home     = topic.home(ledger.id)
      val metadata = if (home == LedgerHome.Unknown) "" else s""", "metadata": "${metadataOf(ledger, owner, bookie)}""""
      val isOpen   = ledger eq newest
      s"""{"ledgerId": ${ledger.id}, "entries": ${if (isOpen) 0 else ledger.entries.size},
         | "size": ${if (isOpen) 0 else bytes(ledger)}, "offloaded": ${isOffloaded(home)}$metadata}""".stripMargin
    }
    s"""{"lastConfirmedEntry": "${text(topic.lastConfirmed)}", "currentLedgerEntries": ${newest.entries.size},
       | "currentLedgerSize": ${bytes(newest)}, "ledgers": ${ledgers.mkString("[", ", ", "]")}}""".stripMargin
  }

  private def info(topic: StoredTopic): String = topic.ledgers.map { ledger =>
    val uuid = topic.home(ledger.id) match {
      case LedgerHome.Offloaded(uuid) => s""", "offloadedContextUuid": "$uuid""""
      case _                          => ""
    }
    val closedAt = ledger.entries.lastOption.fold(0L)(_.publishTime)
    s"""{"ledgerId": ${ledger.id}, "entries": ${ledger.entries.size}, "size": ${bytes(ledger)},
       | "timestamp": $closedAt$uuid}""".stripMargin
  }.mkString("""{"ledgers": [""", ", ", "]" + topic.created.fold("")(at => s""", "creationDate": "$at"""") + "}")

  private def transactions(topic: StoredTopic): String =
    s"""{"state": "${if (topic.reportsTransactions) "Ready"
      else "Initializing"}", "recoverStartTime": 7, "totalAbortedTransactions": ${topic.aborted.size},
       | "maxReadPosition": "${text(topic.lastConfirmed)}"}""".stripMargin

  private def isOffloaded(home: LedgerHome) = home match {
    case LedgerHome.Offloaded(_) => true
    case _                       => false
  }

  private def bytes(ledger: TopicLedger) = ledger.entries.map(_.bytes.length.toLong).sum

  private def text(position: Position) = s"${position.ledgerId}:${position.entryId}"

  /** BookKeeper's text of it. */
  private def metadataOf(ledger: TopicLedger, owner: String, bookie: String) = {
    val name = Base64.getEncoder.encodeToString(owner.getBytes(UTF_8))
    "LedgerMetadata{formatVersion=3, ensembleSize=1, writeQuorumSize=1, ackQuorumSize=1, state=CLOSED, " +
      s"length=${bytes(ledger)}, lastEntryId=${ledger.entries.size - 1}, digestType=CRC32C, password=OMITTED, " +
      s"ensembles={0=[$bookie]}, customMetadata={pulsar/managed-ledger=base64:$name}}"
  }
}
