package io.github.pulsarspark.options.registry

import scala.util.Try

import io.github.pulsarspark.fuzz.TextFuzzTarget
import io.github.pulsarspark.options.{ReadOptions, WriteOptions}

/** Options of a read or a write, a line for each; the first line names the scope. */
object OptionsFuzz extends TextFuzzTarget {
  private val scopes = Seq(Scope.BatchRead, Scope.StreamRead, Scope.BatchWrite, Scope.StreamWrite)
  private val fields = Seq("connectionTimeoutMs", "serviceUrl", "authParams", "receiverQueueSize")

  /** The nearest name of an unknown one is compared with all others. */
  override def allowance: Long = 32L << 20

  override def texts: Seq[String] = examples.filter(text => Try(decode(text)).isSuccess) :+
    "0\npulsar.client.connectionTimeoutMs=7\nservice.url=pulsar://[::1]:1\ntopic=t"

  /** Each option in each scope, also where it has no meaning. */
  private def examples: Seq[String] = OptionRegistry.definitions.flatMap { definition =>
    definition.example.toSeq.flatMap(example =>
      scopes.zipWithIndex.map { case (_, i) =>
        s"$i\nservice.url=pulsar://localhost:6650\ntopic=t\n${definition.key}=$example"
      }
    )
  }

  override def decode(text: String): Any = {
    val lines       = text.linesIterator.toSeq
    val scope       = scopes(lines.headOption.flatMap(_.headOption).fold(0)(_ % scopes.size))
    val options     = lines.drop(1).map(_.split("=", 2)).collect { case Array(key, value) => key -> value }.toMap
    val checked     = CheckedOptions(options, scope, _ => fields)
    val result: Any =
      if (scope == Scope.BatchRead || scope == Scope.StreamRead) ReadOptions(checked) else WriteOptions(checked)
    result.getClass.getName -> checked.translations
  }
}
