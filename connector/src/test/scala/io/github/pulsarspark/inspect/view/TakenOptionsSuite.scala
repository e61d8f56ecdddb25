package io.github.pulsarspark.inspect.view

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{Conditions, PulsarError}
import io.github.pulsarspark.inspect.MetadataViews
import io.github.pulsarspark.options.registry.{OptionRegistry, RawOptions}
import io.github.pulsarspark.pulsar.connection.ClientSettings

class TakenOptionsSuite extends UnitSuite {

  private val taken = TakenOptions.OfTopics ++ TakenOptions.OfReaders

  private def raw(
      query: Map[String, String],
      session: Map[String, String] = Map.empty,
      stored: Option[Map[String, String]] = None
  ) = new RawOptions(query, ClientSettings.fields, session, stored)

  private def refused(options: RawOptions): String = {
    val error = intercept[RuntimeException with PulsarError](taken.check("partitions", options))
    assert(Conditions.MetadataOption.is(error), error)
    error.parameters("option")
  }

  test("options of the cluster, those that a table takes and Spark's own pass") {
    taken.check(
      "partitions",
      raw(Map(
        "service.url"                          -> "x",
        "auth.tokenFile"                       -> "x",
        "TLS.trustCertsFile"                   -> "x",
        "Topic"                                -> "t",
        "pulsar.client.useTls"                 -> "true",
        "pulsar.client.numIoThreads"           -> "2",
        "pulsar.reader.readerName"             -> "r",
        "pulsar.reader.subscriptionRolePrefix" -> "p",
        "metadata"                             -> "partitions",
        "path"                                 -> "/p"
      ))
    )
  }

  test("any other option of a query or of its table is refused by the name that it has there") {
    Seq("readLevel", "startingOffsets", "bookie.tls.certFile", "bookkeeper.numIOThreads", "predefinedSubscription",
      "allowDifferentTopicSchemas").foreach { key =>
      assertEquals(refused(raw(Map("topic" -> "t", key -> "x"))), key)
      assertEquals(refused(raw(Map.empty, stored = Some(Map("topic" -> "t", key -> "x")))), key)
    }
  }

  test("options of a session or of a catalog are for many queries") {
    val session = Map("readLevel" -> "broker", "service.url" -> "x")
    taken.check("partitions", raw(session + ("topic" -> "t"), session))
    taken.check("partitions", raw(Map.empty, session, Some(Map("topic" -> "t"))))
    assertEquals(refused(raw(Map("readLevel" -> "segment"), session)), "readLevel")
  }

  test("the tables take options that there are") {
    val known = OptionRegistry.definitions.map(_.key) ++ OptionRegistry.prefixes.map(_.prefix)
    MetadataViews.all.foreach(view => assertEquals(view.takes.names.diff(known), Nil, view.name))
  }
}
