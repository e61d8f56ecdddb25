package io.github.pulsarspark.storage.bookkeeper.client

import java.lang.reflect.Modifier

import munit.FunSuite
import org.apache.bookkeeper.conf.{AbstractConfiguration, ClientConfiguration}

import io.github.pulsarspark.options.registry.OptionRegistry

class BookKeeperSettingsSuite extends FunSuite {

  test("the settings under `bookkeeper.` are settings of BookKeeper's client") {
    val names = Seq(classOf[ClientConfiguration], classOf[AbstractConfiguration[_]])
      .flatMap(_.getDeclaredFields)
      .filter(f => Modifier.isStatic(f.getModifiers) && f.getType == classOf[String])
      .map { f => f.setAccessible(true); f.get(null) }
    val listed = OptionRegistry.prefixes.find(_.prefix == "bookkeeper.").get.fields
    assert(listed.nonEmpty)
    assertEquals(listed.filterNot(names.contains(_)), Nil)
  }
}
