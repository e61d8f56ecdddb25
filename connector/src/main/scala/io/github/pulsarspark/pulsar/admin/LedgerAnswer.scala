package io.github.pulsarspark.pulsar.admin

import java.io.IOException

import scala.collection.mutable

import com.fasterxml.jackson.core.async.ByteArrayFeeder
import com.fasterxml.jackson.core.{JsonFactory, JsonToken}
import org.apache.pulsar.client.impl.AdminHttp

/** Numbers, texts and flags of a JSON object, by name. */
private[pulsarspark] trait JsonFields {

  /** Number of this name; 0 if there is none. */
  def long(name: String): Long

  /** False if there is no such flag. */
  def flag(name: String): Boolean

  /** Text of this name; None if it is missing, null or empty. */
  def text(name: String): Option[String]
}

/** Takes the ledgers of a topic partition in the order in which the admin service lists them. */
private[pulsarspark] trait LedgerSink[A] {

  /** @param fields
    *   of one ledger; the next call overwrites them
    */
  def ledger(fields: JsonFields): Unit

  /** @param fields
    *   of the response, besides its ledgers
    */
  def end(fields: JsonFields): A
}

/** Parses an `internalStats` or `internal-info` response as it arrives. It may contain tens of thousands of ledgers of
  * some hundred bytes; one of them is in memory at a time. Objects that are nested deeper, or in other lists, are
  * skipped.
  */
private[pulsar] final class LedgerAnswer[A](sink: LedgerSink[A]) extends AdminHttp.Body[A] {
  import LedgerAnswer._

  private val parser = factory.createNonBlockingByteArrayParser()
  private val input  = parser.getNonBlockingInputFeeder match {
    case feeder: ByteArrayFeeder => feeder
    case other                   => throw new IllegalStateException(other.toString)
  }
  private val answer = new Fields
  private val ledger = new Fields
  private var name   = ""
  private var depth  = 0
  private var isList = false // within the list of ledgers
  private var isDone = false

  override def read(bytes: Array[Byte]): Unit = {
    input.feedInput(bytes, 0, bytes.length)
    drain()
  }

  override def end(): A = {
    input.endOfInput()
    drain()
    if (!isDone) throw new IOException("the answer of the admin service is empty")
    sink.end(answer)
  }

  private def drain(): Unit = {
    var token = parser.nextToken()
    while (token != null && token != JsonToken.NOT_AVAILABLE) {
      take(token)
      token = parser.nextToken()
    }
  }

  private def take(token: JsonToken): Unit =
    if (token == JsonToken.FIELD_NAME) name = parser.currentName
    else if (token.isStructStart) {
      depth += 1
      if (depth == ListDepth) isList = token == JsonToken.START_ARRAY && name == "ledgers"
      if (depth == LedgerDepth) ledger.clear()
    } else if (token.isStructEnd) {
      if (isList && depth == LedgerDepth) sink.ledger(ledger)
      depth -= 1
      isDone = depth == 0
    } else if (token != JsonToken.VALUE_NULL) {
      if (depth == 1) answer(name) = parser.getText
      else if (isList && depth == LedgerDepth) ledger(name) = parser.getText
    }
}

private object LedgerAnswer {
  private val factory     = new JsonFactory
  private val ListDepth   = 2
  private val LedgerDepth = 3

  private final class Fields extends JsonFields {
    private val texts = mutable.HashMap.empty[String, String]

    def update(name: String, text: String): Unit = texts.update(name, text)
    def clear(): Unit                            = texts.clear()

    override def long(name: String): Long           = texts.get(name).flatMap(_.toLongOption).getOrElse(0L)
    override def flag(name: String): Boolean        = texts.get(name).contains("true")
    override def text(name: String): Option[String] = texts.get(name).filter(_.nonEmpty)
  }
}
