package io.github.pulsarspark.storage.bookkeeper.client

import java.lang.reflect.Modifier

import org.apache.bookkeeper.conf.{AbstractConfiguration, ClientConfiguration}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, OptionRegistry, Scope}
import io.github.pulsarspark.storage.bookkeeper.BookKeeperStore

/** Settings of BookKeeper's client, as [[BookKeeperPool]] hands them to it. */
class BookKeeperSettingsSuite extends UnitSuite {

  test("the settings under `bookkeeper.` are settings of BookKeeper's client") {
    val names = Seq(classOf[ClientConfiguration], classOf[AbstractConfiguration[_]])
      .flatMap(_.getDeclaredFields)
      .filter(f => Modifier.isStatic(f.getModifiers) && f.getType == classOf[String])
      .map { f => f.setAccessible(true); f.get(null) }
    val listed = OptionRegistry.prefixes.find(_.prefix == "bookkeeper.").get.fields
    assert(listed.nonEmpty)
    assertEquals(listed.filterNot(names.contains(_)), Nil)
  }

  test("a setting of BookKeeper's client is handed to it as it is set") {
    val options = Map("service.url" -> "pulsar://h:1", "topic" -> "t", "bookkeeper.numIOThreads" -> "3")
    val read    = ReadOptions(CheckedOptions(options, Scope.BatchRead, _ => Nil))
    assertEquals(BookKeeperPool.settings(read.bookKeeper), Map("numIOThreads" -> "3"))
  }

  test("a class that is no plug-in is refused before there is a task") {
    val options = Map("service.url" -> "pulsar://h:1", "topic" -> "t",
      "bookkeeper.clientAuthProviderFactoryClass" -> "java.lang.Object")
    val store = new BookKeeperStore(ReadOptions(CheckedOptions(options, Scope.BatchRead, _ => Nil)))
    val error =
      try intercept[RuntimeException with PulsarError](store.check())
      finally store.close()
    assertEquals((error.condition, error.parameters("option")),
      ("PULSAR_OPTION_INVALID", "bookkeeper.clientAuthProviderFactoryClass"))
  }
}
