package io.github.pulsarspark.inspect

import java.io.{InputStream, PrintStream}
import java.nio.charset.StandardCharsets.UTF_8

import scala.annotation.unused
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.node.ObjectNode
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.errors.{Conditions, FirstLine, PulsarError}
import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataView}
import io.github.pulsarspark.options.registry.RawOptions
import io.github.pulsarspark.pulsar.connection.ClientSettings
import io.github.pulsarspark.write.PulsarSinks

/** Shows a [[MetadataView]] or the newest messages, or repairs a sink, without Spark running, for the command line.
  * Callers are outside the JVM: the request is JSON on the standard input, so that no secret is in a list of processes,
  * and the answer JSON on the standard output.
  *
  * {{{
  * {"view": "partitions", "options": {"service.url": "pulsar://...", "topic": "orders"}, "columns": ["topic", "last"]}
  * {"columns": [{"name": "topic", "type": "STRING"}, ...], "rows": [["persistent://public/default/orders", ...]]}
  * {"repair": {"torn": "lost", "epoch": 7}, "options": {"service.url": "pulsar://...", "sinkId": "trips", ...}}
  * {"sink": "trips", "epoch": 7, "outcome": "torn", ...}
  * {"error": {"condition": "...", "message": "...", "parameters": {...
  * }}}
  * }}}
  *
  * `columns` is optional; without a column the answer costs fewer requests. So are `torn`, `epoch` and `last`, see
  * [[PulsarSinks]]. The view `messages` has all columns of a read; its rows are the newest of the read that the options
  * describe, at most `limit`. The exit code is 0, or 1 with an error. The property `slf4j.provider` of the JVM chooses
  * who logs; without it nobody does.
  */
object Main {

  private val mapper = new ObjectMapper

  def main(@unused arguments: Array[String]): Unit = {
    if (System.getProperty(LogProvider) == null) {
      System.setProperty(LogProvider, NoLog)
      System.setProperty("slf4j.internal.verbosity", "WARN") // or it says on the standard error that it does so
    }
    val out = System.out
    System.setOut(System.err) // the answer is all that the standard output has
    System.exit(run(System.in, out))
  }

  /** Returns the exit code. */
  private[inspect] def run(in: InputStream, out: PrintStream): Int = {
    val (answer, code) =
      try (answered(mapper.readTree(in)), 0)
      catch {
        case e: Throwable with PulsarError => (failure(e), 1)
        case NonFatal(e)                   =>
          (failure(Conditions.Internal(what = FirstLine(e), where = "the command line's Java process").exception), 1)
      }
    out.write((mapper.writeValueAsString(answer) + "\n").getBytes(UTF_8))
    out.flush()
    code
  }

  private def answered(question: JsonNode): ObjectNode = {
    val options = question.path("options").properties().asScala.map(e => e.getKey -> e.getValue.asText).toMap
    val view    = question.path("view").asText
    if (question.has("repair")) repaired(question.path("repair"), options)
    else if (view == NewestRows.Name)
      NewestRows(new RawOptions(options, ClientSettings.fields), question.path("limit").asInt)
    else shown(question, view, options)
  }

  private def repaired(accepted: JsonNode, options: Map[String, String]): ObjectNode =
    PulsarSinks.repair(options, accepted.path("torn").asText, accepted.path("epoch").asLong,
      isLast = accepted.path("last").asBoolean)

  private def shown(question: JsonNode, name: String, chosen: Map[String, String]): ObjectNode = {
    val (view, options) =
      MetadataViews.checked(name, new RawOptions(chosen + ("metadata" -> name), ClientSettings.fields))
    RowsJson(
      view.columns,
      columns(question, view),
      columns =>
        view.rows(new MetadataRequest(
          options,
          columns.toSet,
          new Configuration(),
          Runtime.getRuntime.availableProcessors
        ))
    )
  }

  private def columns(question: JsonNode, view: MetadataView): Seq[String] = {
    val named = question.path("columns").elements().asScala.map(_.asText).toSeq
    if (named.isEmpty) view.columns.fieldNames.toSeq else named
  }

  private def failure(error: Throwable with PulsarError): ObjectNode = {
    val result     = mapper.createObjectNode()
    val described  = result.putObject("error").put("condition", error.condition).put("message", error.getMessage)
    val parameters = described.putObject("parameters")
    error.parameters.toSeq.sortBy(_._1).foreach { case (key, value) => parameters.put(key, value) }
    result
  }

  private val LogProvider = "slf4j.provider"
  private val NoLog       = "org.slf4j.helpers.NOP_FallbackServiceProvider"
}
